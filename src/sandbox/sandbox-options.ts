import type { Signer } from '../sender/sign-request.ts';
import type { ApiOptions } from './api/api-options.ts';
import type { ApiFault, DeliveryFault, Faults } from './faults.ts';

/** Settings of one sandbox; everything has a default. */
export interface SandboxOptions extends Partial<Omit<ApiOptions, 'params'>> {
  /** 0 (the default): any free port. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Serves HTTPS with these PEM texts. */
  readonly tls?: { readonly certPem: string; readonly keyPem: string } | undefined;
  /** The same seed gives the same leads, faults and delivery ids. */
  readonly seed?: string | number;
  /** How many leads there are at the start. Default 250. */
  readonly leads?: number;
  /** When the newest of them was created, in milliseconds. Default: the last UTC midnight. */
  readonly newest?: number | undefined;
  /** Leads in their own bytes, in place of generated ones. */
  readonly records?: readonly Uint8Array[] | undefined;
  /** Adds a new lead each time so many milliseconds have passed. */
  readonly everyMs?: number | undefined;
  readonly params?: Partial<ApiOptions['params']>;
  readonly faults?: Faults<ApiFault>;
  readonly deliveryFaults?: Faults<DeliveryFault>;
  readonly webhook?: WebhookOptions | undefined;
}

/** Where leads are delivered, and how. */
export interface WebhookOptions {
  readonly targets: readonly string[];
  readonly signer: Signer;
  /** Waits before each further attempt, in milliseconds. Default 1 s, 5 s, 30 s. */
  readonly retryMs?: readonly number[] | undefined;
  /** For one attempt, in milliseconds. Default 10 s. */
  readonly timeoutMs?: number | undefined;
  /** Deliveries in flight at one time, per target. Default 8. */
  readonly concurrency?: number | undefined;
  /** Start no delivery until they are resumed. */
  readonly paused?: boolean;
}
