import type { RawLead } from '../../lead/raw-lead.ts';
import type { CheckedDelivery } from '../../webhook/check-delivery.ts';

/**
 * `answer` is that of the target in a few words: a status, an exit code, or why it failed; `status` that of an HTTP answer. A
 * target that `isDown` would fail whichever lead it is sent. A command that `isInterrupted` was ended by a signal of another
 * process, as where a service manager stops all processes of a service.
 */
export interface TargetResult {
  readonly to: 'forward' | 'exec' | 'output';
  readonly ok: boolean;
  readonly answer: string;
  readonly durationMs: number;
  readonly status?: number | undefined;
  readonly isDown?: true | undefined;
  readonly isInterrupted?: true | undefined;
  readonly retryAfterMs?: number | undefined;
}

export interface Target {
  /** Its name in the inbox, by which a later run knows what was done: `forward https://app.test/hook`. */
  readonly name: string;
  /** A lead that the target does not take in this time is dead, in milliseconds; undefined: the default. */
  readonly giveUpMs?: number | undefined;
  /** Whether a lead is for this target; undefined: each one is. */
  readonly takes?: ((lead: RawLead) => boolean) | undefined;
  /** The target gets a delivery once, for all leads in it; others get its leads one by one. */
  readonly isWhole?: true | undefined;
  readonly concurrency: number;
  /** Delivers the `leads` of the delivery. `attempt`: from 1. Never rejects for a failure of the target, which is a result. */
  deliver(delivery: CheckedDelivery, attempt: number): Promise<TargetResult>;
  /** Opens an output file again before the next lead. */
  reopen?(): void;
  close?(): Promise<void>;
}
