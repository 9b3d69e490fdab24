import type { StoreOptions } from '../inbox-options.ts';
import type { Sql } from './sql/sql.ts';
import type { LeaseClock } from './lease-clock.ts';
import type { NonceClock } from './nonce-clock.ts';
import type { RunningReceiver } from './receivers.ts';
import type { TargetNames } from './stored-targets.ts';

/** The second part of the advisory lock of who removes rejected deliveries; those of numbers are not negative. */
export const rejectsLock = -1;

/** What a receiver's statements need to know of the inbox that it opened. */
export interface StoreContext {
  readonly schema: Sql;
  /** Of the advisory locks of this inbox. */
  readonly lockKey: number;
  /** Of the names of targets, and of the ids of erased leads. */
  readonly targetKey: Uint8Array;
  readonly names: TargetNames;
  /** The name on this receiver's leases. */
  readonly owner: Uint8Array;
  readonly receiver: RunningReceiver;
  readonly nonceClock: NonceClock;
  readonly leaseClock: LeaseClock;
  readonly options: Pick<StoreOptions, 'clock' | 'targets' | 'leaseMs' | 'nonceLifetimeMs'>;
}
