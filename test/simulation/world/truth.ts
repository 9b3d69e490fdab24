import type { TargetKind } from './plan.ts';

/** A lead as the service made it. */
export interface TrueLead {
  readonly id: string;
  readonly createdAt: number;
  /** Stands in no other lead, and in nothing else: what is searched for after it was erased. */
  readonly email: string;
  /** As it is pushed. */
  readonly body: string;
  /** When the service stopped to list it. */
  deletedAt?: number;
}

/** What really happened, as nobody inside the world knows it. */
export class Truth {
  readonly leads = new Map<string, TrueLead>();
  /** Ids that some sender got a 200 for. */
  readonly acknowledged = new Map<string, number>();
  /** How often an event said `accepted`, by id. */
  readonly accepted = new Map<string, number>();
  /** When that was said first, in milliseconds that the machine was awake since its start. */
  readonly acceptedAt = new Map<string, number>();
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
  /** Ids that a sender has begun to deliver. */
  readonly tried = new Set<string>();
}

/** Whether these are the lead's own bytes, as its sender sent them. */
export const isAsSent = (truth: Truth, id: string, text: string): boolean =>
  truth.leads.get(id)?.body === text;

export const countIn = (counts: Map<string, number>, key: string): void =>
  void counts.set(key, (counts.get(key) ?? 0) + 1);
