import * as z from 'zod/mini';
import { isLoopback } from '../../config/base-url.ts';
import { DataError, UsageError } from '../../errors.ts';
import type { SandboxLead } from '../../sandbox/data/lead-set.ts';
import {
  type ApiFault,
  apiFaults,
  type DeliveryFault,
  deliveryFaults,
  readFaults,
} from '../../sandbox/faults.ts';
import {
  type ApiOptions,
  apiOptions,
  nextForms,
  paginations,
  type SandboxOptions,
  type WebhookOptions,
} from '../../sandbox/sandbox-options.ts';
import type { SandboxState } from '../../sandbox/sandbox-state.ts';
import { startSandbox } from '../../sandbox/start-sandbox.ts';
import type { RecordedAttempt as SandboxDelivery } from '../../sandbox/deliveries.ts';
import { rejectUnableToSign, type Signer } from '../../sender/sign-request.ts';
import { type Clock, systemClock } from '../../time/clock.ts';
import { longestTimerMs } from '../../time/time-text.ts';
import { unverified } from '../../webhook/scheme.ts';
import { bytesOfLead, LazyLead, type PulledLead } from '../webhook/lead.ts';
import { type SchemeChoice, unknownOption } from '../webhook/options.ts';
import { makeVerifier } from '../webhook/verifier.ts';

/**
 * A lead as an application writes it: an object, which is served as JSON, or JSON text or bytes, which are
 * served unchanged.
 */
type LeadSource = object | string | Uint8Array;

/** The options of a sandbox; every one has a default. */
export interface TestSandboxOptions extends Partial<Omit<ApiOptions, 'params'>> {
  /** The number of generated leads, or your own leads. Default 250. */
  readonly leads?: number | readonly LeadSource[] | undefined;
  /** The same seed generates the same leads, faults and delivery ids. Default 1. */
  readonly seed?: string | number | undefined;
  /** The creation time of the newest generated lead. Default: the last UTC midnight. */
  readonly newest?: Date | undefined;
  /** The key that the list operation accepts. Default `sandbox-key`. */
  readonly apiKey?: string | undefined;
  /** The names of the query parameters; null removes one from the service. */
  readonly params?: Partial<ApiOptions['params']> | undefined;
  /** The share of requests that go wrong, such as `{status500: '5%', slow: '1%:200ms'}`. */
  readonly faults?: Readonly<Partial<Record<ApiFault, string>>> | undefined;
  /** The share of deliveries that go wrong, such as `{duplicate: '10%', badSignature: '1%'}`. */
  readonly deliveryFaults?: Readonly<Partial<Record<DeliveryFault, string>>> | undefined;
  /** The receiver of every lead. Without it nothing is delivered, and `deliveryFaults` is a `UsageError`. */
  readonly webhook?: TestWebhook | undefined;
  /** The port on loopback; 0, the default, takes any free one. */
  readonly port?: number | undefined;
  /** The time for retries, the rate limit, creation times and signatures. Default: the system's. */
  readonly clock?: Clock | undefined;
}

/** The receiver of leads. Deliveries are signed by `scheme` and `secrets`, and unsigned without both. */
export interface TestWebhook extends Partial<Pick<SchemeChoice, 'scheme' | 'secrets'>> {
  /** The address of the receiver: https, or http to a loopback address. */
  readonly url: string | URL;
  /** The waits before each further attempt, in milliseconds. Default 1000, 5000, 30,000. */
  readonly retryMs?: readonly number[] | undefined;
  /** The limit for one attempt, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /** The number of deliveries in flight at one time. Default 8. */
  readonly concurrency?: number | undefined;
  /** A certificate authority as PEM text, which is trusted for loopback addresses beside the usual ones. */
  readonly ca?: string | undefined;
}

/** A lead of the sandbox, in the bytes in which it is served and delivered. */
export interface TestLead extends PulledLead {
  readonly id: string;
}

export type { SandboxDelivery };

/** A service that runs in this process until `close`. */
export interface RunningSandbox {
  /**
   * The base URL without a slash at its end. Every attempt can also be read at `/sandbox/deliveries` below
   * it.
   */
  readonly url: string;
  readonly apiKey: string;
  /** Returns all leads, oldest first. */
  leads(): TestLead[];
  /**
   * Adds a lead and delivers it: the next generated one, or your own. Throws a `DataError` for a value that
   * is no lead, and for an id that is taken.
   */
  addLead(lead?: LeadSource): TestLead;
  /** Returns every attempt so far, oldest first. */
  deliveries(): SandboxDelivery[];
  /**
   * Resolves when every lead is acknowledged, or was given up after its last retry. Rejects when the sandbox
   * is closed before, and where the application acknowledged a forgery of `deliveryFaults`, which counts as
   * no delivery of its lead.
   */
  settled(): Promise<void>;
  /** Cuts open deliveries and closes the service, so that nothing keeps the process. */
  close(): Promise<void>;
}

export async function runSandbox(options: TestSandboxOptions): Promise<RunningSandbox> {
  checkSandboxOptions(options);
  const { clock = systemClock, webhook } = options;
  const unsettled = new UnsettledDeliveries(() => sandbox.state.deliveries);
  const sandbox = await startSandbox(sandboxOptions(options), {
    clock,
    loopbackCa: webhook?.ca,
    observe: () => unsettled.check(),
  });
  const { state } = sandbox;
  return {
    url: sandbox.url,
    apiKey: sandbox.apiKey,
    leads: () => sandbox.leads.map(testLead),
    addLead(lead) {
      if (lead === undefined) return testLead(sandbox.addLead());
      const added = state.add(bytesOfLead(lead));
      if ('problem' in added) throw new DataError(`the lead cannot be added: ${added.problem}`);
      return testLead(added);
    },
    deliveries: () => [...state.deliveries.attempts],
    settled: () => unsettled.settled(),
    async close() {
      unsettled.close();
      await sandbox.close();
    },
  };
}

function sandboxOptions(options: TestSandboxOptions): SandboxOptions {
  const { leads, newest, apiKey, faults = {}, deliveryFaults: shares = {}, webhook, ...further } = options;
  const webhookFaults = readFaults(shares, deliveryFaults);
  if (webhook === undefined && Object.keys(webhookFaults).length > 0) {
    throw new UsageError('deliveryFaults needs a webhook');
  }
  return {
    ...further,
    ...(typeof leads === 'object' ? { records: leads.map(bytesOfLead) } : { leads }),
    apiKeys: apiKey === undefined ? undefined : [apiKey],
    newest: newest?.getTime(),
    faults: readFaults(faults, apiFaults),
    webhook: webhook && { ...webhookOptions(webhook), faults: webhookFaults },
  };
}

function webhookOptions(webhook: TestWebhook): WebhookOptions {
  const { url, retryMs, timeoutMs, concurrency } = webhook;
  if (!URL.canParse(String(url))) throw new UsageError(`webhook.url is '${String(url)}', which is no URL`);
  const { protocol, hostname, href } = new URL(url);
  if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback(hostname))) {
    throw new UsageError(`webhook.url is ${href}: it must be https, or http to a loopback address`);
  }
  return { url: href, signer: signerOf(webhook), retryMs, timeoutMs, concurrency };
}

/** Throws a `ConfigError` for a scheme that is unknown or incomplete, or a secret that cannot sign. */
function signerOf({ scheme, secrets }: TestWebhook): Signer {
  if (scheme === undefined && secrets === undefined) return { scheme: unverified, key: undefined };
  const { scheme: signingScheme, keys } = makeVerifier({ scheme: scheme ?? 'token', secrets: secrets ?? [] });
  const [key] = keys;
  if (key !== undefined) rejectUnableToSign(signingScheme, key);
  return { scheme: signingScheme, key };
}

const testLead = (lead: SandboxLead): TestLead => new LazyLead(lead.id, Buffer.from(lead.text()));

const wholeNumber = (minimum: number, maximum = Number.MAX_SAFE_INTEGER) =>
  z.int().check(z.gte(minimum), z.lte(maximum));
const milliseconds = z.number().check(z.gte(0), z.lte(longestTimerMs));
const text = z.string().check(z.minLength(1));
const path = z.string().check(z.regex(/^\/[^?#\s]*$/));
/** The code that uses such a value checks it, with a better message. */
const checkedLater = z.unknown();

const webhookSchema = z.partial(
  z.strictObject({
    url: checkedLater,
    scheme: checkedLater,
    secrets: checkedLater,
    retryMs: z.array(milliseconds),
    timeoutMs: milliseconds,
    concurrency: wholeNumber(1),
    ca: text,
  }),
);

const paramNames = Object.keys(apiOptions({}).params);
const paramsSchema = z.partial(
  z.strictObject(Object.fromEntries(paramNames.map((name) => [name, z.nullable(text)]))),
);

const rateLimitSchema = z.strictObject({ requests: wholeNumber(1), windowMs: milliseconds });

const optionsSchema = z.partial(
  z.strictObject({
    leads: z.union([wholeNumber(0), z.array(checkedLater)]),
    seed: z.union([z.string(), z.number()]),
    newest: z.date(),
    apiKey: text,
    params: paramsSchema,
    faults: checkedLater,
    deliveryFaults: checkedLater,
    webhook: webhookSchema,
    port: wholeNumber(0, 65_535),
    clock: checkedLater,
    path,
    pagination: z.enum(paginations),
    next: z.enum(nextForms),
    nextField: text,
    envelope: text,
    totals: z.boolean(),
    order: z.enum(['newest', 'oldest']),
    statusField: text,
    defaultLimit: wholeNumber(1),
    maxLimit: wholeNumber(1),
    rateLimit: rateLimitSchema,
  }),
);

/**
 * Throws a `TypeError` for an option that is unknown, and a `UsageError` for a value of another form: a
 * sandbox without it would test something else.
 */
function checkSandboxOptions(options: unknown): void {
  const { error } = z.safeParse(optionsSchema, options);
  const [issue] = error?.issues ?? [];
  if (issue === undefined) return;
  const [unknown] = issue.code === 'unrecognized_keys' ? issue.keys : [];
  const place = issue.path.join('.');
  if (unknown === undefined)
    throw new UsageError(`${place} is not what this option can be`, { cause: error });
  const { shape } =
    { webhook: webhookSchema, rateLimit: rateLimitSchema, params: paramsSchema }[place] ?? optionsSchema;
  throw unknownOption(unknown, Object.keys(shape), place === '' ? 'startSandbox' : place);
}

/** Waits until every delivery of a sandbox is settled: acknowledged, or given up. */
class UnsettledDeliveries {
  readonly #deliveries: () => Pick<SandboxState['deliveries'], 'attempts' | 'pending'>;
  readonly #waiting: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
  /** Whether a delivery was not settled when the sandbox was closed; undefined while it runs. */
  #wasCut: boolean | undefined;

  constructor(deliveries: () => Pick<SandboxState['deliveries'], 'attempts' | 'pending'>) {
    this.#deliveries = deliveries;
  }

  settled(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#answerIfSettled();
    });
  }

  /** Must be called at each attempt. The state changes only after the caller has returned. */
  check(): void {
    if (this.#waiting.length > 0) queueMicrotask(() => this.#answerIfSettled());
  }

  /** Must be called before open connections are cut. */
  close(): void {
    this.#wasCut ??= this.#deliveries().pending > 0;
    this.#answerIfSettled();
  }

  #answerIfSettled(): void {
    const { attempts, pending } = this.#deliveries();
    if (this.#wasCut === undefined && pending > 0) return;
    const error =
      this.#wasCut === true
        ? 'the sandbox was closed before every delivery was settled'
        : acceptedForgery(attempts);
    for (const { resolve, reject } of this.#waiting.splice(0)) {
      if (error === undefined) resolve();
      else reject(new Error(error));
    }
  }
}

/** The failure of a test whose application accepts forged deliveries. */
function acceptedForgery(attempts: readonly SandboxDelivery[]): string | undefined {
  const accepted = attempts.filter(({ forged, outcome }) => forged && outcome === 'acknowledged');
  if (accepted.length === 0) return undefined;
  const kinds = [...new Set(accepted.flatMap(({ faults }) => faults.slice(-1)))].join(', ');
  const count = accepted.length === 1 ? '1 forged delivery' : `${accepted.length} forged deliveries`;
  return `${count} (${kinds}) came back with 200: the application does not verify what it gets`;
}
