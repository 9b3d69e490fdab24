import type { VerdictKind } from '../inbox/query-types.ts';
import type { ForwardState, Source, StoredRef, TakenVerdict } from '../inbox/inbox.ts';
import type { CheckedLead } from '../webhook/check-delivery.ts';
import type { Delivery } from '../webhook/delivery.ts';
import type { OtherDelivery, OtherReason, Rejection, RejectReason } from '../webhook/delivery-answer.ts';
import type { TargetResult } from './targets/target.ts';

/** The event of a delivery that reached its last state, one for each lead in it. Times are milliseconds since the epoch. */
export interface AnsweredDelivery {
  /** The delivery as received: its path and headers may hold credentials (`deliveryRedactor` takes them out). */
  readonly delivery: Delivery;
  readonly verdict: VerdictKind;
  /** HTTP status of the answer to the delivery. */
  readonly status: number;
  /** From receipt to answer, in milliseconds. */
  readonly durationMs: number;
  readonly source: Source;
  readonly reason?: RejectReason | OtherReason | undefined;
  /** A sentence beside the reason. */
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
  /** Fields whose values differ from the first payload of this id. */
  readonly differs?: readonly string[] | undefined;
  /** Deviations from the specification. */
  readonly warnings?: readonly string[] | undefined;
  /** Other schemes or encodings that the credential would have matched. */
  readonly explanation?: readonly string[] | undefined;
}

/** The event of one attempt to forward a lead. */
export interface ForwardAttempt {
  /** When it ended, in milliseconds since the epoch. */
  readonly at: number;
  readonly leadId: string;
  /** A label that holds no credentials. */
  readonly target: string;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
  /** The state of the lead at the target now. */
  readonly state: ForwardState;
  /** The time from then to the next attempt, in milliseconds; undefined where no attempt follows. */
  readonly retryInMs: number | undefined;
  readonly result: TargetResult;
}

/** Is told what a receiver does, for measuring it. Times in milliseconds. */
export interface ReceiverObserver {
  /** The monotonic clock. */
  now(): number;
  /** A delivery has its answer; `ms` from its receipt. */
  answered(ms: number): void;
  /** The leads of a delivery are durable; `ms` from when they were given to the inbox. */
  stored(ms: number): void;
  /** The inbox did not take a delivery. */
  notStored(): void;
}

/** A lead that is stored, with its verdict. */
export interface StoredLead {
  readonly lead: CheckedLead;
  readonly verdict: TakenVerdict & StoredRef;
}

/** The part of an event that does not depend on what the inbox says of a lead. */
export interface Outcome extends Pick<AnsweredDelivery, 'delivery' | 'source' | 'status'> {
  readonly position?: AnsweredDelivery['position'];
  readonly verdict?: Rejection | OtherDelivery | undefined;
  readonly leadId?: string | undefined;
  readonly explanation?: readonly string[] | undefined;
}

/** Written out, since copying parts into it would cost more than all else of the answer. `now` in milliseconds since the epoch. */
export function answeredDelivery(
  { delivery, source, status, position, verdict, leadId, explanation }: Outcome,
  stored: StoredLead | undefined,
  now: number,
): AnsweredDelivery {
  return {
    delivery,
    verdict: stored?.verdict.kind ?? verdict?.kind ?? 'rejected',
    status,
    durationMs: Math.max(0, now - delivery.receivedAt),
    source,
    reason: verdict?.reason,
    detail: verdict?.detail,
    leadId: stored?.lead.leadId ?? leadId,
    position,
    attempt: stored?.verdict.attempt,
    firstAt: stored?.verdict.firstAt,
    lead: stored === undefined || stored.verdict.isErased === true ? undefined : stored.lead.lead.bytes,
    differs: stored?.verdict.differs,
    pointer: stored?.lead.pointer,
    warnings: stored?.lead.warnings,
    explanation,
  };
}
