import type { CheckedDelivery } from '../../webhook/check-delivery.ts';

/** What came of the delivery of one lead to one target. Printed as it is in the `events` format. */
export interface TargetResult {
  /** The kind of target. */
  readonly to: 'forward' | 'exec' | 'output';
  readonly ok: boolean;
  /** The target's answer in a few words: a status, an exit code, or why it failed. */
  readonly answer: string;
  readonly durationMs: number;
  /** Text of the answer's body, on demand. */
  readonly body?: string | undefined;
}

/** Something that gets every new lead before its delivery is acknowledged. */
export interface Target {
  /** Its name in the inbox, by which a later run knows what was done: `forward https://app.test/hook`. */
  readonly name: string;
  /** Longest time that one delivery to it takes, in milliseconds; no other receiver delivers the lead meanwhile. */
  readonly longestMs: number;
  /** A failure counts as done, since the delivery is acknowledged all the same. Default false. */
  readonly bestEffort?: boolean | undefined;
  /** `attempt`: which delivery of this id it is, from 1. Never rejects for a failure of the target: that is a result. */
  deliver(lead: CheckedDelivery, attempt: number): Promise<TargetResult>;
  close?(): Promise<void>;
}
