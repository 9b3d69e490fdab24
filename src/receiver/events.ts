import type { VerdictKind } from '../inbox/decide.ts';
import type { Source } from '../inbox/inbox.ts';
import type { RejectReason } from '../webhook/rejection.ts';
import type { TargetResult } from './targets/target.ts';

/** What became of one delivery, for whoever shows it. Times are milliseconds since the epoch. */
export interface DeliveryReport {
  readonly receivedAt: number;
  readonly verdict: VerdictKind;
  /** HTTP status of our answer. */
  readonly status: number;
  readonly durationMs: number;
  readonly remote: string;
  readonly method: string;
  readonly path: string;
  readonly source: Source;
  readonly reason?: RejectReason | undefined;
  /** One sentence beside the reason. */
  readonly detail?: string | undefined;
  readonly leadId?: string | undefined;
  /** Which delivery of this id it is, from 1. */
  readonly attempt?: number | undefined;
  /** When the id first came. */
  readonly firstAt?: number | undefined;
  /** The lead's own bytes, compact; absent for a rejected delivery. */
  readonly lead?: Uint8Array | undefined;
  /** Fields that are not what they were in the first payload of this id. */
  readonly differs?: readonly string[] | undefined;
  readonly warnings?: readonly string[] | undefined;
  /** What each target made of it, in order. */
  readonly handed?: readonly TargetResult[] | undefined;
  /** What else the credential would have matched. */
  readonly explanation?: readonly string[] | undefined;
}

/** Where the receiver is, once it is ready. */
export interface Listening {
  readonly url: string;
  readonly path: string | undefined;
  readonly scheme: string;
  readonly inbox: string;
  readonly caPath: string | undefined;
}

/** How many of each there were. */
export interface Tally {
  accepted: number;
  duplicate: number;
  pending: number;
  rejected: number;
  /** By reason. */
  readonly reasons: Partial<Record<RejectReason, number>>;
}

/** One form of stdout: the text for each thing that happens, or nothing. */
export interface Printer {
  listening(listening: Listening): string;
  delivery(report: DeliveryReport): string;
  summary(tally: Tally, durationMs: number): string;
}
