import type { Signer } from '../sender/sign-request.ts';
import type { ApiFault, DeliveryFault, Faults } from './faults.ts';

type Optional<T> = { readonly [K in keyof T]?: T[K] | undefined };

export interface SandboxOptions extends Optional<Omit<ApiOptions, 'params'>> {
  readonly port?: number | undefined;
  readonly params?: Optional<ApiOptions['params']> | undefined;
  /** Keys that are valid for the list operation. Default `sandbox-key`. */
  readonly apiKeys?: readonly string[] | undefined;
  readonly seed?: string | number | undefined;
  /** The number of leads at the start. Default 250. */
  readonly leads?: number | undefined;
  /** The creation time of the newest of them, in milliseconds. Default: the last UTC midnight. */
  readonly newest?: number | undefined;
  /** Leads in their own bytes, in place of generated ones. */
  readonly records?: readonly Uint8Array[] | undefined;
  readonly everyMs?: number | undefined;
  readonly faults?: Faults<ApiFault> | undefined;
  readonly webhook?: WebhookOptions | undefined;
}

export interface WebhookOptions {
  readonly url: string;
  readonly signer: Signer;
  readonly retryMs?: readonly number[] | undefined;
  readonly timeoutMs?: number | undefined;
  /** The number of parallel deliveries. Default 8. */
  readonly concurrency?: number | undefined;
  readonly faults?: Faults<DeliveryFault> | undefined;
}

export const defaultConcurrency = 8;

/** For one attempt, in milliseconds. */
export const defaultTimeoutMs = 10_000;

/** Names of the query parameters. A null parameter does not exist, so that sending it changes nothing. */
export interface ParameterNames {
  readonly limit: string | null;
  readonly status: string | null;
  readonly category: string | null;
  readonly since: string | null;
  readonly until: string | null;
  readonly cursor: string | null;
  readonly page: string | null;
  readonly offset: string | null;
}

export const paginations = ['cursor', 'page', 'offset', 'link', 'none'] as const;
export const nextForms = ['cursor', 'url', 'path', 'id', 'number', 'none'] as const;

/** How the list operation of this sandbox looks: everything that the specification leaves open. */
export interface ApiOptions {
  readonly path: string;
  readonly params: ParameterNames;
  readonly pagination: (typeof paginations)[number];
  /**
   * The form in which the body names the next page: an opaque cursor; an absolute URL; a path with query; only
   * `has_more`, and the last id is the cursor; a number (page, offset); or not at all. Undefined means the
   * usual form of the pagination.
   */
  readonly next: (typeof nextForms)[number] | undefined;
  /**
   * Dotted name of that field: `nextCursor`, `meta.next_cursor`, … Undefined means the usual name of its form.
   */
  readonly nextField: string | undefined;
  /** Dotted name of the array in the body. With `none`, the body is the array. */
  readonly envelope: string;
  /** Whether the bodies of pages and offsets have a `total`. */
  readonly totals: boolean;
  readonly order: 'newest' | 'oldest';
  readonly statusField: string;
  readonly defaultLimit: number;
  /** A larger `limit` is reduced to this without an error, as services do. */
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

export const apiOptions = ({ params = {}, ...options }: SandboxOptions): ApiOptions => ({
  ...defaultApi,
  ...definedIn(options),
  params: { ...defaultApi.params, ...definedIn(params) },
});

const definedIn = <T extends object>(options: T) =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    readonly [K in keyof T]?: Exclude<T[K], undefined>;
  };
