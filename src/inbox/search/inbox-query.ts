import type { VerdictKind } from '../decide-verdict.ts';

/** All conditions must hold. Times are milliseconds since the epoch, half-open: since <= receivedAt < until. */
export interface InboxQuery {
  /** `pending`: what is outstanding now, as the newest delivery of each such lead that was answered so. */
  readonly verdicts?: readonly VerdictKind[] | undefined;
  readonly leadId?: string | undefined;
  readonly seq?: number | undefined;
  /** Numbers below that one, and above this one: both are left out themselves. */
  readonly before?: number | undefined;
  readonly after?: number | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}
