import { type Rejection, rejection } from '../webhook/rejection.ts';
import { payloadDiff } from './payload-diff.ts';

/** What becomes of an arrival. */
export type Verdict =
  | (KnownDelivery & { readonly kind: 'accepted' })
  | (KnownDelivery & { readonly kind: 'duplicate' })
  | (KnownDelivery & {
      readonly kind: 'pending';
      /** Targets that have not had the lead, to be leased to the caller. */
      readonly targets: readonly string[];
      /** True while another receiver on the same inbox hands the lead on: nothing is leased then. */
      readonly busy: boolean;
    })
  | Rejection;

export type VerdictKind = Verdict['kind'];

/** The verdicts on a delivery that was taken in. */
export type TakenKind = Exclude<VerdictKind, 'rejected'>;

interface KnownDelivery {
  readonly leadId: string;
  /** Which delivery of this id it is, from 1. */
  readonly attempt: number;
  /** When the id first came, in milliseconds since the epoch. */
  readonly firstAt: number;
  /** Dotted names of fields whose values are not those of the first payload; `*` when they were not compared. */
  readonly differs?: readonly string[] | undefined;
}

/** What a store holds about an arrival at the moment it comes, by the store's own clock. */
export interface Known {
  /** Whether the arrival's nonce is still bound to another body. */
  readonly nonceTaken: boolean;
  /** Undefined for a new id. */
  readonly lead?: KnownLead | undefined;
}

export interface KnownLead {
  readonly firstAt: number;
  /** Deliveries of this id so far. */
  readonly attempts: number;
  /** Whether a delivery of this id was `accepted`. */
  readonly accepted: boolean;
  /**
   * The first payload; `same` when it has the very bytes of this arrival, `not compared` when it has others that are not
   * to be looked at: it was pruned, or comparing would take too long.
   */
  readonly firstBody: Uint8Array | 'same' | 'not compared';
  /** Wanted targets that have had the lead. */
  readonly settled: readonly string[];
  /** Wanted targets that another receiver holds a lease on. */
  readonly leasedElsewhere: readonly string[];
}

/** The part of an arrival that its verdict depends on, beside what is known. */
interface DecidedArrival {
  readonly leadId: string;
  readonly delivery: { readonly receivedAt: number; readonly body: Uint8Array };
}

/**
 * The verdict on one arrival, the same in every store. `wanted` are the targets that this receiver hands each lead to.
 * A lead is `pending` until all of them have had it, `accepted` once, and a `duplicate` ever after. Stores nothing: the
 * caller does, with the leases that a pending verdict names.
 */
export function decide(
  { nonceTaken, lead }: Known,
  arrival: DecidedArrival,
  wanted: readonly string[],
): Verdict {
  if (nonceTaken) return rejection('replayed_nonce', 'the nonce came before, with another body');
  const { leadId, delivery } = arrival;
  const attempt = (lead?.attempts ?? 0) + 1;
  const firstAt = lead?.firstAt ?? delivery.receivedAt;
  const differs = lead === undefined ? undefined : differences(lead.firstBody, delivery.body);
  const unsettled = lead === undefined ? wanted : wanted.filter((target) => !lead.settled.includes(target));
  if (unsettled.length > 0) {
    const busy = unsettled.some((target) => lead?.leasedElsewhere.includes(target) === true);
    return { kind: 'pending', leadId, attempt, firstAt, differs, targets: busy ? [] : unsettled, busy };
  }
  // A lead that an earlier run left pending, for targets that this run does not have, is accepted now.
  const kind = lead?.accepted === true ? 'duplicate' : 'accepted';
  return { kind, leadId, attempt, firstAt, differs };
}

/** What a stored delivery is once one more target has had its lead. `unsettled`: wanted targets that still have not. */
export function decideSettled(
  unsettled: readonly string[],
  { accepted }: Pick<KnownLead, 'accepted'>,
): TakenKind {
  if (unsettled.length > 0) return 'pending';
  return accepted ? 'duplicate' : 'accepted';
}

function differences(firstBody: KnownLead['firstBody'], body: Uint8Array): readonly string[] | undefined {
  if (firstBody === 'same') return undefined;
  if (firstBody === 'not compared') return ['*'];
  const names = payloadDiff(firstBody, body);
  return names.length === 0 ? undefined : names;
}
