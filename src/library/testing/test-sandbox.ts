import type { ApiFault, DeliveryFault } from '../../sandbox/faults.ts';
import type { ApiOptions } from '../../sandbox/sandbox-options.ts';
import type { RecordedAttempt as SandboxDelivery } from '../../sandbox/deliveries.ts';
import type { Clock } from '../../time/clock.ts';
import type { PulledLead } from '../webhook/lead.ts';
import type { SchemeChoice } from '../webhook/options.ts';

/** A lead as an application writes it: an object, or JSON text or bytes, which are served and delivered as they are. */
export type LeadSource = object | string | Uint8Array;

/** What the sandbox serves and delivers; everything has a default. */
export interface TestSandboxOptions extends Partial<Omit<ApiOptions, 'params'>> {
  /** How many leads the seed makes, or leads of your own. Default 250. */
  readonly leads?: number | readonly LeadSource[] | undefined;
  /** The same seed gives the same leads, faults and delivery ids. Default 1. */
  readonly seed?: string | number | undefined;
  /** When the newest lead of the seed was created. Default: the last UTC midnight. */
  readonly newest?: Date | undefined;
  /** The key that the list operation takes. Default `sandbox-key`. */
  readonly apiKey?: string | undefined;
  /** Names of the query parameters; null: the service does not know it. */
  readonly params?: Partial<ApiOptions['params']> | undefined;
  /** Share of the requests that go wrong, such as `{status500: '5%', slow: '1%:200ms'}`. */
  readonly faults?: Readonly<Partial<Record<ApiFault, string>>> | undefined;
  /** Share of the deliveries that go wrong, such as `{duplicate: '10%', badSignature: '1%'}`. */
  readonly deliveryFaults?: Readonly<Partial<Record<DeliveryFault, string>>> | undefined;
  /** Where every lead is delivered; without it none is, and there are no `deliveryFaults`. */
  readonly webhook?: TestWebhook | undefined;
  /** 0, the default, is any free port. */
  readonly port?: number | undefined;
  /** Time of retries, of the rate limit and of what is created and signed. Default: the system's. */
  readonly clock?: Clock | undefined;
}

/** Where and how leads are delivered; signed as `scheme` and `secrets` say, unsigned without both. */
export interface TestWebhook extends Partial<Pick<SchemeChoice, 'scheme' | 'secrets'>> {
  /** https, or http to a loopback address. */
  readonly url: string | URL;
  /** Waits before each further attempt, in milliseconds. Default 1000, 5000, 30,000. */
  readonly retryMs?: readonly number[] | undefined;
  /** For one attempt, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Deliveries in flight at one time. Default 8. */
  readonly concurrency?: number | undefined;
  /** An authority as PEM that is trusted for loopback addresses, beside the usual ones. */
  readonly ca?: string | undefined;
}

/** A lead of the sandbox, in the bytes that it is served and delivered in. */
export interface TestLead extends PulledLead {
  readonly id: string;
}

export type { SandboxDelivery };

/** A service that runs in this process. */
export interface RunningSandbox {
  /** Base URL without a slash at the end. What it did is also at `/sandbox/deliveries` below it. */
  readonly url: string;
  readonly apiKey: string;
  /** All leads, oldest first. */
  leads(): TestLead[];
  /**
   * Adds a lead and delivers it: the seed's next one, or your own. Throws a `DataError` when it is no lead or its id is
   * taken.
   */
  addLead(lead?: LeadSource): TestLead;
  /** Every attempt so far, oldest first. */
  deliveries(): SandboxDelivery[];
  /**
   * Resolves when every lead is acknowledged, or was given up after its last retry; rejects when closed before, and then also
   * where a forgery of `deliveryFaults` was acknowledged: it counts as no delivery of its lead.
   */
  settled(): Promise<void>;
  /** Cuts what is in flight; nothing of the sandbox is open afterwards. */
  close(): Promise<void>;
}
