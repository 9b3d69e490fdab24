import type { TargetKind } from './plan.ts';

/** A lead as the service made it. */
export interface TrueLead {
  readonly id: string;
  readonly createdAt: number;
  /** Stands in no other lead, and in nothing else: what is searched for after it was erased. */
  readonly email: string;
  /** As it is pushed. */
  readonly body: string;
  /** In the list, as bytes. */
  readonly listed: string;
  /** When the service stopped to list it. */
  deletedAt?: number;
}

/** A time of the world, and how long the machine was awake until then; in milliseconds. */
export interface Moment {
  readonly now: number;
  readonly awakeMs: number;
}

interface SaidDone extends Moment {
  readonly id: string;
  readonly target: TargetKind;
}

/** One lead at one target. */
export const pairOf = (id: string, target: TargetKind): string => `${target} ${id}`;

/** What really happened, as nobody inside the world knows it. */
export class Truth {
  readonly leads = new Map<string, TrueLead>();
  /** Ids that some sender got a 200 for. */
  readonly acknowledged = new Map<string, number>();
  /** How often an event said `accepted`, by id. */
  readonly accepted = new Map<string, number>();
  /** The targets of the receiver that said so first. */
  readonly wanted = new Map<string, readonly TargetKind[]>();
  /** When a receiver said first that a target has had a lead, by both. */
  readonly saidDone = new Map<string, SaidDone>();
  /** Leads that were seen to be dead for a target, by both. */
  readonly dead = new Set<string>();
  /** Targets of which a receiver said that leads are dead for them. */
  readonly saidDead = new Set<TargetKind>();
  /** Old deliveries were pruned, or are now. */
  isPruned = false;
  /** How often each target has taken a lead. */
  readonly taken: Record<TargetKind, Map<string, number>> = {
    application: new Map(),
    file: new Map(),
    command: new Map(),
  };
  /** When the erasure of a lead began. */
  readonly erased = new Map<string, number>();
  /** Leads whose erasure has ended well. */
  readonly gone = new Set<TrueLead>();
  /** When it had, by id. */
  readonly goneAt = new Map<string, Moment>();
  /** Ids that a sender has begun to deliver. */
  readonly tried = new Set<string>();
}

/** Whether these are the lead's own bytes, as its sender sent them. */
export const isAsSent = (truth: Truth, id: string, text: string): boolean =>
  truth.leads.get(id)?.body === text;

export const countIn = (counts: Map<string, number>, key: string): void =>
  void counts.set(key, (counts.get(key) ?? 0) + 1);
