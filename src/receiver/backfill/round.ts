import type { Inbox } from '../../inbox/inbox.ts';
import type { Service } from '../../service/client/service.ts';
import type { Clock } from '../../time/clock.ts';
import type { Receiver } from '../create-receiver.ts';
import type { Target } from '../targets/target.ts';

export interface RoundOptions {
  readonly service: Service;
  readonly inbox: Pick<Inbox, 'states' | 'list' | 'lease' | 'release'>;
  readonly receiver: Pick<Receiver, 'handleChecked' | 'handleLeased' | 'isDispatching'>;
  /** Of the receiver. */
  readonly targets: readonly Pick<Target, 'name' | 'concurrency'>[];
  readonly clock: Pick<Clock, 'now'>;
  /** Ends the round early: leads that are being handled are finished, and no other one is started. */
  readonly signal: AbortSignal;
  /** Leads that were created before that are left out; milliseconds since the epoch. */
  readonly since: number;
  /** Ids of leads that were left pending by rounds of this run; a round adds its own, and removes those that are done. */
  readonly outstanding: Set<string>;
  /** A pending lead that was tried later than that is left alone; milliseconds since the epoch. */
  readonly triedBefore: number;
}

/** How a round ended. */
export type RoundEnd =
  | { readonly kind: 'complete' }
  /** The service did not show that it listed everything. */
  | { readonly kind: 'unproven'; readonly why: string }
  | { readonly kind: 'failed'; readonly error: unknown }
  /** The receiver stops. */
  | { readonly kind: 'interrupted' };

/** Leads of one round, by what became of them. */
export interface RoundCounts {
  /** The inbox did not have them, and has them now. */
  fetched: number;
  /** The inbox had them before. */
  known: number;
  /** Of the known ones: they were pending, and every target has had them now. */
  handedOn: number;
  /** In the inbox, while a target has not had them. */
  pending: number;
  /** The inbox could not take them. */
  notStored: number;
}

/** One reading of the service's list, and what it brought. Times are milliseconds. */
export interface BackfillRound extends Readonly<RoundCounts> {
  /** From 1. */
  readonly number: number;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly end: RoundEnd;
  /** From its end to the next one; undefined: it was the only one. */
  readonly everyMs: number | undefined;
}
