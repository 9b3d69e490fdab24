import type { Span } from '../json/members.ts';
import { type OtherDelivery, type Rejection, rejection } from '../webhook/delivery-answer.ts';
import { leadBytes } from '../lead/raw-lead.ts';
import { payloadDiff } from './payload-diff.ts';
import { maxComparedBytes } from './store-options.ts';

/** What becomes of a lead that is taken in. */
export type TakenVerdict =
  | (KnownDelivery & { readonly kind: 'accepted' })
  | (KnownDelivery & {
      readonly kind: 'duplicate';
      /** The lead was erased: nothing of this delivery of it is stored, printed or handed on. */
      readonly isErased?: true;
    })
  | (KnownDelivery & {
      readonly kind: 'pending';
      /** Targets that have not had the lead, to be leased to the caller, and how often each was tried. */
      readonly targets: readonly { readonly name: string; readonly tries: number }[];
      /** True while others on the same inbox hand the lead on to all that have not had it: nothing is leased then. */
      readonly busy: boolean;
    });

/** What becomes of an arrival. */
export type Verdict = TakenVerdict | Rejection;

export type VerdictKind = Verdict['kind'] | OtherDelivery['kind'];

/** The verdicts on a delivery that was taken in. */
export type TakenKind = TakenVerdict['kind'];

interface KnownDelivery {
  readonly leadId: string;
  /** Which delivery of this id it is, from 1. */
  readonly attempt: number;
  /** When the id first came, in milliseconds since the epoch. */
  readonly firstAt: number;
  /** Dotted names of fields whose values are not those of the first payload; `*` when they were not compared. */
  readonly differs?: readonly string[] | undefined;
}

/** What a store holds about the lead of an arrival at the moment it comes, by the store's own clock. */
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
  readonly done: readonly string[];
  /** Wanted targets that another receiver holds a lease on. */
  readonly leasedElsewhere: readonly string[];
  /** How often each target was tried that has not had the lead; those that never were may be left out. */
  readonly tries: ReadonlyMap<string, number>;
}

/** The part of an arrival that its verdict depends on, beside what is known. */
interface DecidedArrival {
  readonly leadId: string;
  readonly place?: Span | undefined;
  readonly targets?: readonly string[] | undefined;
  readonly delivery: { readonly receivedAt: number; readonly body: Uint8Array };
}

/**
 * The verdict on one arrival, the same in every store. `lead` is undefined for a new id, and `wanted` are the targets of this
 * receiver, which the lead goes to unless its arrival names some of them. A lead is `pending` until all of them have had it, `accepted` once, and a `duplicate` ever after. Stores nothing: the
 * caller does, with the leases that a pending verdict names.
 */
export function decideVerdict(
  lead: KnownLead | undefined,
  arrival: DecidedArrival,
  wanted: readonly string[],
): TakenVerdict {
  const { leadId, delivery, place } = arrival;
  const attempt = (lead?.attempts ?? 0) + 1;
  const firstAt = lead?.firstAt ?? delivery.receivedAt;
  const payload = leadBytes(delivery.body, place);
  const differs = lead === undefined ? undefined : differences(lead.firstBody, payload);
  const undone = (arrival.targets ?? wanted).filter((target) => lead?.done.includes(target) !== true);
  if (undone.length > 0) {
    const targets = undone
      .filter((target) => lead?.leasedElsewhere.includes(target) !== true)
      .map((name) => ({ name, tries: lead?.tries.get(name) ?? 0 }));
    return { kind: 'pending', leadId, attempt, firstAt, differs, targets, busy: targets.length === 0 };
  }
  // A lead that an earlier run left pending, for targets that this run does not have, is accepted now.
  const kind = lead?.accepted === true ? 'duplicate' : 'accepted';
  return { kind, leadId, attempt, firstAt, differs };
}

/** The verdict on a lead that was erased. `attempts`: deliveries before that; those since then are not counted. */
export const decideErased = (
  leadId: string,
  { attempts, firstAt }: Pick<KnownLead, 'attempts' | 'firstAt'>,
): TakenVerdict => ({ kind: 'duplicate', leadId, attempt: attempts + 1, firstAt, isErased: true });

export const isErased = (verdict: Verdict): boolean =>
  verdict.kind === 'duplicate' && verdict.isErased === true;

/** The verdict on a delivery whose nonce is still bound to another body. */
export const replayedNonce = (): Rejection =>
  rejection('replayed_nonce', 'the nonce came before, with another body');

/** What a stored delivery is once one more target has had its lead. `undone`: wanted targets that still have not. */
export function verdictOnceDone(
  undone: readonly string[],
  { accepted }: Pick<KnownLead, 'accepted'>,
): TakenKind {
  if (undone.length > 0) return 'pending';
  return accepted ? 'duplicate' : 'accepted';
}

function differences(firstBody: KnownLead['firstBody'], payload: Uint8Array): readonly string[] | undefined {
  if (firstBody === 'same') return undefined;
  if (firstBody === 'not compared') return ['*'];
  const names = payloadDiff(firstBody, payload);
  return names.length === 0 ? undefined : names;
}

/** Limits the payloads that are compared field by field in one transaction. */
export class ComparisonBudget {
  #left = maxComparedBytes;

  /** A new transaction began. */
  reset(): void {
    this.#left = maxComparedBytes;
  }

  /** The first payload, when the other one may be compared with it. They are known to differ. */
  spend(first: Uint8Array | undefined, payload: Uint8Array): KnownLead['firstBody'] {
    if (first === undefined || first.length + payload.length > this.#left) return 'not compared';
    this.#left -= first.length + payload.length;
    return first;
  }
}
