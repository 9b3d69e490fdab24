import type { RawLead } from '../../lead/raw-lead.ts';
import type { CheckedDelivery } from '../../webhook/check-delivery.ts';

export interface TargetResult {
  readonly to: 'forward' | 'exec' | 'output';
  readonly ok: boolean;
  /** The target's answer in a few words: a status, an exit code, or why it failed. */
  readonly answer: string;
  readonly durationMs: number;
  /** The status of an HTTP answer; undefined where no answer came. */
  readonly status?: number | undefined;
  /** The target failed, whichever lead it is sent. */
  readonly isDown?: true | undefined;
  /** A signal of others ended it, as where a service manager stops all processes of a service. */
  readonly isInterrupted?: true | undefined;
  readonly retryAfterMs?: number | undefined;
}

export interface Target {
  /** Its name in the inbox, by which a later run knows what was done: `forward https://app.test/hook`. */
  readonly name: string;
  /** How long a lead that it does not take is tried again, in milliseconds. */
  readonly giveUpMs?: number | undefined;
  /** Whether a lead is for this target; undefined: each one is. */
  readonly takes?: ((lead: RawLead) => boolean) | undefined;
  /** It gets a delivery once, for all leads in it; any other target gets them one by one. */
  readonly isWhole?: true | undefined;
  readonly concurrency: number;
  /**
   * Delivers the leads that are named in the delivery. `attempt`: its number among those of these leads, from 1. Never rejects for a
   * failure of the target: that is a result.
   */
  deliver(delivery: CheckedDelivery, attempt: number): Promise<TargetResult>;
  /** The next lead goes to a file that is opened again. */
  reopen?(): void;
  close?(): Promise<void>;
}
