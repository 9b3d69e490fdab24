import type { Span } from '../json/members.ts';
import { leadBytes } from '../lead/raw-lead.ts';
import { type OtherDelivery, type Rejection, rejection } from '../webhook/delivery-answer.ts';
import { payloadDiff } from './payload-diff.ts';
import { maxComparedBytes } from './store-options.ts';

/** The verdict on a lead that is stored: it came for the first time, or came before. */
export type TakenVerdict = {
  readonly kind: 'accepted' | 'duplicate';
  readonly leadId: string;
  /** Which delivery of this id it is, from 1. */
  readonly attempt: number;
  /** When the id first came, in milliseconds since the epoch. */
  readonly firstAt: number;
  /** Dotted names of fields whose values are not those of the first payload; `*` when they were not compared. */
  readonly differs?: readonly string[] | undefined;
  /** The lead was erased: nothing of this delivery of it is stored, printed or forwarded. */
  readonly isErased?: true;
};

/** The verdict on an arrival. */
export type Verdict = TakenVerdict | Rejection;

export type VerdictKind = Verdict['kind'] | OtherDelivery['kind'];

/** What a store holds about the lead of an arrival at the moment it comes, by the store's own clock. */
export interface KnownLead {
  readonly firstAt: number;
  /** Deliveries of this id so far. */
  readonly attempts: number;
  /**
   * The first payload; `same` when it has the very bytes of this arrival, `not compared` when it has others that are not
   * to be looked at: it was pruned, or comparing would take too long.
   */
  readonly firstBody: Uint8Array | 'same' | 'not compared';
}

/** The part of an arrival that its verdict depends on, beside what is known. */
interface DecidedArrival {
  readonly leadId: string;
  readonly place?: Span | undefined;
  readonly delivery: { readonly receivedAt: number; readonly body: Uint8Array };
}

/** The verdict on one arrival, the same in every store. `lead` is undefined for a new id. Stores nothing. */
export function decideVerdict(lead: KnownLead | undefined, arrival: DecidedArrival): TakenVerdict {
  const { leadId, delivery, place } = arrival;
  if (lead === undefined) return { kind: 'accepted', leadId, attempt: 1, firstAt: delivery.receivedAt };
  const { firstAt, attempts, firstBody } = lead;
  const differs = differences(firstBody, leadBytes(delivery.body, place));
  return { kind: 'duplicate', leadId, attempt: attempts + 1, firstAt, differs };
}

/** The verdict on a lead that was erased. `attempts`: deliveries before that; those since then are not counted. */
export const decideErased = (
  leadId: string,
  { attempts, firstAt }: Pick<KnownLead, 'attempts' | 'firstAt'>,
): TakenVerdict => ({ kind: 'duplicate', leadId, attempt: attempts + 1, firstAt, isErased: true });

/** The verdict on a delivery whose nonce is still bound to another body. */
export const replayedNonce = (): Rejection =>
  rejection('replayed_nonce', 'the nonce came before, with another body');

function differences(firstBody: KnownLead['firstBody'], payload: Uint8Array): readonly string[] | undefined {
  if (firstBody === 'same') return undefined;
  if (firstBody === 'not compared') return ['*'];
  const names = payloadDiff(firstBody, payload);
  return names.length === 0 ? undefined : names;
}

/** Limits the payloads that are compared field by field in one transaction. */
export class ComparisonBudget {
  #left = maxComparedBytes;

  /** The first payload, when the other one may be compared with it. They are known to differ. */
  spend(first: Uint8Array | undefined, payload: Uint8Array): KnownLead['firstBody'] {
    if (first === undefined || first.length + payload.length > this.#left) return 'not compared';
    this.#left -= first.length + payload.length;
    return first;
  }
}
