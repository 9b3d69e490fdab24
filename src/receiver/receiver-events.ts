import type { VerdictKind } from '../inbox/query-types.ts';
import type { ForwardState, Source, StoredRef, TakenVerdict } from '../inbox/inbox.ts';
import type { CheckedLead } from '../webhook/check-delivery.ts';
import type { Delivery } from '../webhook/delivery.ts';
import type { OtherReason, RejectReason } from '../webhook/delivery-answer.ts';
import type { TargetResult } from './targets/target.ts';

/** The event of a delivery that reached its last state, one for each lead in it. Times are milliseconds since the epoch. */
export interface AnsweredDelivery {
  /** The delivery as received: its path and headers may hold credentials (`deliveryRedactor` takes them out). */
  readonly delivery: Delivery;
  readonly verdict: VerdictKind;
  readonly status: number;
  /** From receipt to answer, in milliseconds. */
  readonly durationMs: number;
  readonly source: Source;
  readonly reason?: RejectReason | OtherReason | undefined;
  readonly detail?: string | undefined;
  readonly leadId?: string | undefined;
  /** Its number among the several leads of its delivery, from 1; undefined where it is the only one. */
  readonly position?: { readonly number: number; readonly of: number } | undefined;
  /** The number of the delivery among those of this id, from 1. */
  readonly attempt?: number | undefined;
  /** When the id was first received. */
  readonly firstAt?: number | undefined;
  /** The lead's own bytes, compact; absent for a delivery that was not taken. */
  readonly lead?: Uint8Array | undefined;
  /** The place of the lead in the body, as a pointer in which `*` steps through an array; absent where it is the body. */
  readonly pointer?: string | undefined;
  readonly differs?: readonly string[] | undefined;
  readonly warnings?: readonly string[] | undefined;
  readonly explanation?: readonly string[] | undefined;
}

export interface ForwardAttempt {
  /** When the attempt ended, in milliseconds since the epoch. */
  readonly at: number;
  readonly leadId: string;
  readonly target: string;
  readonly attempt: number;
  readonly state: ForwardState;
  /** The time from then to the next attempt, in milliseconds; undefined where no attempt follows. */
  readonly retryInMs: number | undefined;
  readonly result: TargetResult;
}

export interface StoredLead {
  readonly lead: CheckedLead;
  readonly verdict: TakenVerdict & StoredRef;
}
