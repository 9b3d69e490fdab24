import type { RawLead } from '../../lead/raw-lead.ts';
import type { CheckedDelivery, CheckedLead } from '../../webhook/check-delivery.ts';

/** What came of the delivery of one lead to one target. Printed as it is in the `events` format. */
export interface TargetResult {
  /** The kind of target. */
  readonly to: 'forward' | 'exec' | 'output';
  readonly ok: boolean;
  /** The target's answer in a few words: a status, an exit code, or why it failed. */
  readonly answer: string;
  readonly durationMs: number;
  /** Of an HTTP answer; undefined where none came. */
  readonly status?: number | undefined;
  /** What failed is the target, whichever lead it is handed. */
  readonly isDown?: true | undefined;
  /** A signal of others ended it, as where a service manager stops all processes of a service. Not printed. */
  readonly isInterrupted?: true | undefined;
  /** So long an HTTP answer asks to wait. */
  readonly retryAfterMs?: number | undefined;
  /** Text of the answer's body, on demand. */
  readonly body?: string | undefined;
}

/** A lead on its way to a target. */
export interface AttemptedLead extends CheckedLead {
  /** Which try of this target it is, from 1. */
  readonly attempt: number;
}

/** Something that gets every new lead before its delivery is acknowledged. */
export interface Target {
  /** Its name in the inbox, by which a later run knows what was done: `forward https://app.test/hook`. */
  readonly name: string;
  /** How long a lead that it does not take is tried again, in milliseconds. */
  readonly giveUpMs?: number | undefined;
  /** Whether a lead is for this target; undefined: each one is. */
  readonly takes?: ((lead: RawLead) => boolean) | undefined;
  /** A failure counts as done, since the delivery is acknowledged all the same. Default false. */
  readonly bestEffort?: boolean | undefined;
  /** It gets all of a delivery, whichever leads of it are for it. */
  readonly isWhole?: true | undefined;
  /** Leads that it takes at the same time; undefined: as many as come. */
  readonly concurrency?: number | undefined;
  /**
   * Delivers those leads of one delivery that it has not had: one result for each, in order, known as soon as that lead's
   * is. Never rejects for a failure of the target: that is a result. `onBegun` is given what cuts it short, where that can be.
   */
  deliver(
    delivery: CheckedDelivery,
    leads: readonly AttemptedLead[],
    onBegun?: (abandon: () => void) => void,
  ): readonly Promise<TargetResult>[];
  /** The next lead goes to a file that is opened anew. */
  reopen?(): void;
  close?(): Promise<void>;
}
