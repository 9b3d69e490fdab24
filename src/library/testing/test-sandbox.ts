import type { ApiFault, DeliveryFault } from '../../sandbox/faults.ts';
import type { ApiOptions } from '../../sandbox/sandbox-options.ts';
import type { RecordedAttempt as SandboxDelivery } from '../../sandbox/deliveries.ts';
import type { Clock } from '../../time/clock.ts';
import type { PulledLead } from '../webhook/lead.ts';
import type { SchemeChoice } from '../webhook/options.ts';

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
