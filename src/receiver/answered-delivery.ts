import type { VerdictKind } from '../inbox/decide-verdict.ts';
import type { Source } from '../inbox/inbox.ts';
import type { Delivery } from '../webhook/delivery.ts';
import type { RejectReason } from '../webhook/rejection.ts';
import type { TargetResult } from './targets/target.ts';

/** The event of a delivery that reached its last state, one for each lead in it. Times are milliseconds since the epoch. */
export interface AnsweredDelivery {
  /** As received: its path and headers may hold credentials (`deliveryRedactor` takes them out). */
  readonly delivery: Delivery;
  readonly receivedAt: number;
  readonly verdict: VerdictKind;
  /** HTTP status of the answer to the delivery. */
  readonly status: number;
  /** From receipt to answer, in milliseconds. */
  readonly durationMs: number;
  readonly remote: string;
  readonly method: string;
  /** Without secrets. */
  readonly path: string;
  readonly source: Source;
  readonly reason?: RejectReason | undefined;
  /** One sentence beside the reason. */
  readonly detail?: string | undefined;
  readonly leadId?: string | undefined;
  /** Which of the several leads of its delivery it is, from 1; undefined where it is the only one. */
  readonly position?: { readonly number: number; readonly of: number } | undefined;
  /** Which delivery of this id it is, from 1. */
  readonly attempt?: number | undefined;
  /** When the id was first received. */
  readonly firstAt?: number | undefined;
  /** The lead's own bytes, compact; absent for a rejected delivery. */
  readonly lead?: Uint8Array | undefined;
  /** Fields whose values differ from the first payload of this id. */
  readonly differs?: readonly string[] | undefined;
  /** Deviations from the specification. */
  readonly warnings?: readonly string[] | undefined;
  /** One for each target that the lead was dispatched to, in order. */
  readonly targetResults?: readonly TargetResult[] | undefined;
  /** Other schemes or encodings that the credential would have matched. */
  readonly explanation?: readonly string[] | undefined;
}
