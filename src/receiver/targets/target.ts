import type { CheckedDelivery } from '../../webhook/check-delivery.ts';

/** What one target made of a lead. */
export interface TargetResult {
  /** `forward`, `exec` or `output`. */
  readonly to: string;
  readonly ok: boolean;
  /** What it answered, in a few words: a status, an exit code, why it failed. */
  readonly answer: string;
  readonly durationMs: number;
  /** On demand: what it said, as text. */
  readonly body?: string | undefined;
}

/** Something that every new lead is handed to before its delivery is acknowledged. */
export interface Target {
  /** Names it in the inbox, so that a later run knows what was done: `forward https://app.test/hook`. */
  readonly name: string;
  /** A failure is a value: the delivery is then answered so that the service sends it again. */
  deliver(lead: CheckedDelivery): Promise<TargetResult>;
  close?(): Promise<void>;
}
