import type { Signer } from '../sender/sign-request.ts';
import type { ApiFault, DeliveryFault, Faults } from './faults.ts';

type Optional<T> = { readonly [K in keyof T]?: T[K] | undefined };

/**
 * `apiKeys` open the list operation (default `sandbox-key`). At the start there are `records` in their own bytes, or
 * `leads` generated ones (default 250), of which the newest was created at `newest` in milliseconds since the epoch
 * (default: the last UTC midnight). Then one is generated each `everyMs` milliseconds (default: none).
 */
export interface SandboxOptions extends Optional<Omit<ApiOptions, 'params'>> {
  readonly port?: number | undefined;
  readonly params?: Optional<ApiOptions['params']> | undefined;
  readonly apiKeys?: readonly string[] | undefined;
  readonly seed?: string | number | undefined;
  readonly leads?: number | undefined;
  readonly newest?: number | undefined;
  readonly records?: readonly Uint8Array[] | undefined;
  readonly everyMs?: number | undefined;
  readonly faults?: Faults<ApiFault> | undefined;
  readonly webhook?: WebhookOptions | undefined;
}

/**
 * The receiver of every lead. `retryMs` are the waits before each further attempt, `timeoutMs` limits one attempt,
 * and `concurrency` is the number of deliveries at one time.
 */
export interface WebhookOptions {
  readonly url: string;
  readonly signer: Signer;
  readonly retryMs?: readonly number[] | undefined;
  readonly timeoutMs?: number | undefined;
  readonly concurrency?: number | undefined;
  readonly faults?: Faults<DeliveryFault> | undefined;
}

export const defaultConcurrency = 8;
export const defaultTimeoutMs = 10_000;

/** Names of the query parameters. A null parameter does not exist, so that sending it changes nothing. */
export type ParameterNames = Readonly<
  Record<'limit' | 'status' | 'category' | 'since' | 'until' | 'cursor' | 'page' | 'offset', string | null>
>;

export const paginations = ['cursor', 'page', 'offset', 'link', 'none'] as const;
export const nextForms = ['cursor', 'url', 'path', 'id', 'number', 'none'] as const;

/**
 * How the list operation of this sandbox looks: everything that the specification leaves open. `envelope` is the dotted
 * name of the array in the body; with `none`, the body is the array. With `totals`, the bodies of pages and offsets
 * have a `total`. `order` says which leads come first. `statusField` holds the delivery status of a listed lead. A
 * request without `limit` gets `defaultLimit` leads, and a larger one than `maxLimit` is reduced to it without an
 * error, as services do.
 */
export interface ApiOptions {
  readonly path: string;
  readonly params: ParameterNames;
  readonly pagination: (typeof paginations)[number];
  /**
   * The form in which the body names the next page: `cursor`, opaque; `url`, absolute; `path`, with query; `id`,
   * only `has_more`, where the last id of the page is the next cursor; `number`, the next page or offset; or
   * `none`. Undefined means `cursor` with the pagination `cursor`, and else `none`.
   */
  readonly next: (typeof nextForms)[number] | undefined;
  /**
   * Dotted name of that field: `nextCursor`, `meta.next_cursor`, … Undefined means the usual name of its form.
   */
  readonly nextField: string | undefined;
  readonly envelope: string;
  readonly totals: boolean;
  readonly order: 'newest' | 'oldest';
  readonly statusField: string;
  readonly defaultLimit: number;
  readonly maxLimit: number;
  readonly rateLimit: { readonly requests: number; readonly windowMs: number } | undefined;
}

export const defaultApiKey = 'sandbox-key';

const defaultApi: ApiOptions = {
  path: '/api/leads',
  params: {
    limit: 'limit',
    status: 'status',
    category: 'category',
    since: 'since',
    until: 'until',
    cursor: 'cursor',
    page: 'page',
    offset: 'offset',
  },
  pagination: 'cursor',
  next: undefined,
  nextField: undefined,
  envelope: 'data',
  totals: true,
  order: 'newest',
  statusField: 'status',
  defaultLimit: 50,
  maxLimit: 1000,
  rateLimit: undefined,
};

/** Fills in the defaults, also where an option is given as undefined. */
export const apiOptions = ({ params = {}, ...options }: SandboxOptions): ApiOptions => ({
  ...defaultApi,
  ...definedIn(options),
  params: { ...defaultApi.params, ...definedIn(params) },
});

const definedIn = <T extends object>(options: T) =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    readonly [K in keyof T]?: Exclude<T[K], undefined>;
  };
