import type { VerdictKind } from '../inbox/query-types.ts';
import type { ForwardState, Source, StoredRef, TakenVerdict } from '../inbox/inbox.ts';
import type { CheckedLead } from '../webhook/check-delivery.ts';
import type { Delivery } from '../webhook/delivery.ts';
import type { OtherReason, RejectReason } from '../webhook/delivery-answer.ts';
import type { TargetResult } from './targets/target.ts';

/**
 * The event of a delivery whose answer is known, one for each lead in it. `delivery` is as it was received: its path and headers
 * may hold credentials, which `deliveryRedactor` takes out. `durationMs` is from receipt to answer, `firstAt` the time when the
 * lead's id was first received, `attempt` the number of this delivery among those of the id, from 1, and `position` that of the
 * lead among the several ones of its delivery.
 */
export interface AnsweredDelivery {
  readonly delivery: Delivery;
  readonly verdict: VerdictKind;
  readonly status: number;
  readonly durationMs: number;
  readonly source: Source;
  readonly reason?: RejectReason | OtherReason | undefined;
  readonly detail?: string | undefined;
  readonly leadId?: string | undefined;
  readonly position?: { readonly number: number; readonly of: number } | undefined;
  readonly attempt?: number | undefined;
  readonly firstAt?: number | undefined;
  /** The lead's own bytes; absent for a delivery that was not stored, and for a lead that was erased. */
  readonly lead?: Uint8Array | undefined;
  /** The place of the lead in the body, as a pointer in which `*` steps through an array; absent where it is the body. */
  readonly pointer?: string | undefined;
  readonly differs?: readonly string[] | undefined;
  readonly warnings?: readonly string[] | undefined;
  readonly explanation?: readonly string[] | undefined;
}

/** The event of an attempt to forward a lead, which ended `at`, in milliseconds since the epoch. */
export interface ForwardAttempt {
  readonly at: number;
  readonly leadId: string;
  readonly target: string;
  readonly attempt: number;
  readonly state: ForwardState;
  /** The time from `at` to the next attempt, in milliseconds; undefined where no attempt follows. */
  readonly retryInMs: number | undefined;
  readonly result: TargetResult;
}

export interface StoredLead {
  readonly lead: CheckedLead;
  readonly verdict: TakenVerdict & StoredRef;
}
