import { LeadNotFoundError } from '../errors.ts';
import type { DueLead, Inbox, StoredDelivery, TargetLease } from '../inbox/inbox.ts';
import { targetLabel } from '../inbox/target-name.ts';
import { setNewest } from '../set-newest.ts';
import { type Clock, slept } from '../time/clock.ts';
import type { CheckedDelivery, CheckedLead } from '../webhook/check-delivery.ts';
import type { Verifier } from '../webhook/scheme.ts';
import type { Receiver } from './create-receiver.ts';
import type { NextTry, PendingLead, WantedTry } from './deliver-to-targets.ts';
import {
  defaultGiveUpMs,
  isAwayForLong,
  longestPauseMs,
  nextTry,
  stateAfter,
  type TargetState,
  unseen,
} from './outbox-schedule.ts';
import type { ReceiverNote, ReceiverProblem } from './problems.ts';
import { restoreCredential } from './restore-credential.ts';
import {
  asReceived,
  checkedLead,
  firstDelivery,
  isUnreadable,
  storedDelivery,
  type Unreadable,
} from './stored-deliveries.ts';
import type { Target, TargetResult } from './targets/target.ts';

interface OutboxOptions {
  readonly inbox: Pick<
    Inbox,
    'due' | 'nextDueAt' | 'lease' | 'list' | 'leadsBySeq' | 'outstanding' | 'lackingTargets'
  >;
  readonly targets: readonly Target[];
  /** Its first key signs what was authentic when it came. */
  readonly verifier: Verifier;
  readonly clock: Clock;
  readonly random: () => number;
  readonly note: (found: ReceiverNote) => void;
  /** The neutral sentence of an error. */
  readonly sentenceOf: (error: unknown) => string;
  /** No further try starts after it. */
  readonly signal: AbortSignal;
}

/** What hands leads on, and ends the leases of those that are not. */
type Handing = Pick<Receiver, 'handOn' | 'isDispatching' | 'release'>;

/** Other processes may make leads due, too: so often the inbox is asked at least, in milliseconds. */
const pollMs = 10_000;

/** Between two rounds of which the first found nothing to do, at least, in milliseconds. */
const shortestWaitMs = 1000;

/** Leads that are tried at the same time, at most. */
const mostAtOnce = 100;

/** Leads whose strikes are known, of each target: the oldest are forgotten. */
const mostStruck = 1000;

/** Leads that go out with others of their requests, at most, before no further request is added. */
const mostTogether = 1000;

/** Leads that are given up in one step. */
const step = 500;

/** One target, and what is known of it in this run. Times are of the clock that goes on evenly. */
interface Line {
  readonly target: Target;
  state: TargetState;
  /** By id of a lead, how often it failed at this target although that answered before. */
  readonly strikes: Map<string, number>;
  /** When its next round begins, and what begins it at once. */
  waitsUntil: number;
  wake: AbortController;
  /** Leads that were given up and are not said yet. */
  givenUp: number;
  /** Ids of leads of which the inbox did not say whether it stored that they are given up. */
  readonly unsure: Set<string>;
}

/** Tries the targets again for what is stored and they have not had, whether or not its sender comes again. */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #lines: ReadonlyMap<string, Line>;
  /** Leads of one request have one result, and are due together. */
  readonly #chances = new WeakMap<TargetResult, number>();

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#lines = new Map(
      options.targets.map((target) => [
        target.name,
        {
          target,
          state: unseen,
          strikes: new Map(),
          waitsUntil: 0,
          wake: new AbortController(),
          givenUp: 0,
          unsure: new Set(),
        },
      ]),
    );
  }

  /** `OnTry` of whoever hands leads to the targets. */
  tried(target: Target, wanted: WantedTry, result: TargetResult, leadId: string): NextTry {
    const { clock, random } = this.#options;
    const line = this.#lines.get(target.name);
    if (line === undefined) return {};
    const chance = this.#chances.get(result) ?? random();
    this.#chances.set(result, chance);
    const { outages, isSeen } = line.state;
    const { since, isAnswering = isSeen } = wanted;
    const tries = wanted.tries + 1;
    const steady = clock.steady();
    const isStrike = !result.ok && isAnswering && result.status !== 429;
    const strikes = this.#struck(line, leadId, isStrike);
    line.state = stateAfter(line.state, { result, tries, strikes, isAnswering }, steady, chance);
    if (result.ok) {
      line.strikes.delete(leadId);
      if (outages > 0) line.wake.abort();
      return {};
    }
    const now = clock.now();
    const { giveUpMs = defaultGiveUpMs } = target;
    const next = nextTry({ result, tries, strikes, since, giveUpMs, now }, chance);
    if ('dead' in next) {
      const onReleased = (isStored: boolean): void => {
        if (isStored) {
          line.givenUp += 1;
          line.unsure.delete(leadId);
        } else line.unsure.add(leadId);
      };
      return { ...next, onReleased };
    }
    if (Math.max(line.state.pausedUntil, steady + next.retryAt - now) < line.waitsUntil) line.wake.abort();
    return next;
  }

  /** The target does not take new leads: only its next try shows whether it does again. */
  isAway(target: string): boolean {
    return (this.#lines.get(target)?.state.fresh.outages ?? 0) > 0;
  }

  #struck({ strikes }: Line, leadId: string, isStrike: boolean): number {
    const count = (strikes.get(leadId) ?? 0) + (isStrike ? 1 : 0);
    if (isStrike) setNewest(strikes, leadId, count, mostStruck);
    return count;
  }

  /** Something is due that nobody tries now. */
  wake(): void {
    for (const line of this.#lines.values()) line.wake.abort();
  }

  /** Resolves when `signal` has aborted and the last try has ended. Never rejects. */
  async run(receiver: Handing): Promise<void> {
    this.#options.signal.addEventListener('abort', () => this.wake(), { once: true });
    await Promise.all([...this.#lines.values()].map((line) => this.#serve(line, receiver)));
  }

  async #serve(line: Line, receiver: Handing): Promise<void> {
    const { clock, signal, note, sentenceOf } = this.#options;
    while (!signal.aborted) {
      line.wake = new AbortController();
      line.waitsUntil = 0;
      let waitMs = pollMs;
      try {
        try {
          waitMs = await this.#round(line, receiver);
        } finally {
          await this.#sayGivenUp(line);
        }
      } catch (error) {
        note({ kind: 'outbox-failed', why: sentenceOf(error) });
      }
      if (waitMs === 0) continue;
      line.waitsUntil = clock.steady() + waitMs;
      await slept(clock, waitMs, line.wake.signal);
    }
  }

  /** Resolves to how long there is nothing to do, in milliseconds. */
  async #round(line: Line, receiver: Handing): Promise<number> {
    const { inbox, clock } = this.#options;
    const { name, concurrency = mostAtOnce } = line.target;
    const { outages, pausedUntil, fresh, isSeen } = line.state;
    const pausedMs = pausedUntil - clock.steady();
    const freshMs = fresh.pausedUntil - clock.steady();
    if (pausedMs > 0 && freshMs > 0) return Math.min(pausedMs, freshMs);
    const now = clock.now();
    const next = (await inbox.nextDueAt(name)) ?? Number.POSITIVE_INFINITY;
    const waitMs = next - now;
    // What is due later than any pause is long was put off before the clock was set back.
    if (waitMs > 0 && waitMs <= 2 * longestPauseMs) return Math.min(pollMs, waitMs);
    if (waitMs === Number.POSITIVE_INFINITY) return pollMs;
    // Half of what the target takes, so that a delivery never waits behind what is stored alone; one where it is down.
    const half = Math.max(1, Math.floor(Math.min(mostAtOnce, concurrency) / 2));
    const due = await inbox.due(name, Math.max(now, next), outages > 0 ? mostAtOnce : half);
    const free = due.filter(({ leadId }) => !receiver.isDispatching(leadId, name));
    const first =
      outages > 0 ? probesOf(free, outages, { isFresh: freshMs <= 0, isKnown: pausedMs <= 0 }) : free;
    if (first.length === 0) return Math.max(shortestWaitMs, Math.min(Math.max(pausedMs, freshMs), pollMs));
    const most = outages > 0 ? 1 : half;
    if (!(await this.#tryAll(line, first, { most, isAnswering: isSeen }, receiver))) return shortestWaitMs;
    if (isAwayForLong(line.state)) await this.#giveUpOverdue(line, receiver);
    return 0;
  }

  /** The first ones, so many at most. Resolves to false where others try them all. */
  async #tryAll(
    { target }: Line,
    due: readonly DueLead[],
    { most, isAnswering }: { readonly most: number; readonly isAnswering: boolean },
    receiver: Handing,
  ): Promise<boolean> {
    // Before they are leased, since nobody renews the leases yet: what is erased meanwhile cannot be leased.
    const read: ReadLead[] = [];
    const together = new Map<string, ReadLead>();
    for (const one of due) {
      if (read.length >= most || together.size >= mostTogether) break;
      if (together.has(one.leadId)) continue;
      const stored = await this.#stored(one);
      read.push({ one, stored });
      if (target.isWhole !== true || stored instanceof Error || stored.firstSeq === undefined) continue;
      for (const other of await this.#sharing(stored, target)) together.set(other.one.leadId, other);
    }
    const { inbox, clock } = this.#options;
    const leasedAt = clock.steady();
    const others = [...together.values()].filter(
      ({ one }) => !receiver.isDispatching(one.leadId, target.name),
    );
    const all = [...read, ...others];
    const leases = all.map(({ one: { leadId, seq } }): TargetLease => ({ leadId, seq, target: target.name }));
    const answers = await inbox.lease(leases);
    const leased = all.filter((_, i) => answers[i]?.state === 'leased');
    const requests = new Map<number, StoredRequest>();
    const tries: Promise<void>[] = [];
    for (const { one, stored } of leased) {
      if (stored instanceof Error) {
        tries.push(this.#putOff(target, [one], stored, receiver));
        continue;
      }
      const { seq, firstSeq = seq, place, attempt, firstAt } = stored;
      const request = requests.get(firstSeq) ?? { stored, leads: [] };
      request.leads.push({ ...one, seq, place, attempt, firstAt });
      requests.set(firstSeq, request);
    }
    for (const request of requests.values()) {
      const { stored } = request;
      const { leads, unreadable, error } = readEach(request);
      if (error !== undefined) tries.push(this.#putOff(target, unreadable, error, receiver));
      if (leads.length > 0)
        tries.push(this.#try(target, { stored, leads }, { isAnswering, leasedAt }, receiver));
    }
    for (const one of await Promise.allSettled(tries)) if (one.status === 'rejected') throw one.reason;
    return leased.length > 0;
  }

  /** What is handed on of the first delivery of the lead that is kept: the very first one may be pruned. */
  async #stored({ leadId, seq }: DueLead): Promise<HandedOn | Unreadable> {
    const { inbox } = this.#options;
    const stored = await storedDelivery(inbox, seq);
    const own = stored && { ...stored, firstAt: stored.receivedAt };
    if (own !== undefined && own.source !== 'backfill') return own;
    try {
      const { handedSeq, ...first } = await firstDelivery(inbox, leadId);
      const handed = handedSeq === own?.seq ? own : await storedDelivery(inbox, handedSeq);
      if (handed !== undefined)
        return { ...handed, seq: first.seq, attempt: first.attempt, firstAt: first.firstAt };
      return own ?? new LeadNotFoundError({ kind: 'no-delivery-of-lead', leadId } satisfies ReceiverProblem);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      return error;
    }
  }

  /**
   * The others that came in the request of a lead and that the target has not had, due or not: it gets the request whole, and
   * would get it again for each of them.
   */
  async #sharing(
    { leadId, firstSeq, receivedAt }: StoredDelivery,
    { name }: Pick<Target, 'name'>,
  ): Promise<readonly ReadLead[]> {
    const { inbox } = this.#options;
    const others: StoredDelivery[] = [];
    const ofRequest = { firstSeq, since: receivedAt, until: receivedAt + 1 };
    for await (const stored of inbox.list(ofRequest)) if (stored.leadId !== leadId) others.push(stored);
    const ids = others.flatMap((stored) => stored.leadId ?? []);
    if (ids.length === 0) return [];
    const due = await inbox.due(name, Number.MAX_SAFE_INTEGER, ids.length, ids);
    const undone = new Map(due.map((one) => [one.leadId, one]));
    const sharing: ReadLead[] = [];
    const pushedAgain = new Map<number, ReadDelivery>();
    for (const stored of others.toReversed()) {
      const one = undone.get(stored.leadId ?? '');
      if (one?.seq === stored.seq) sharing.push({ one, stored: { ...stored, firstAt: receivedAt } });
      else if (one !== undefined && stored.verdict !== 'rejected') pushedAgain.set(one.seq, { one, stored });
    }
    return [...sharing, ...(await this.#fetched(pushedAgain))];
  }

  /** Those that were fetched when they came first, in one question: of most requests that come again there is none. */
  async #fetched(pushed: ReadonlyMap<number, ReadDelivery>): Promise<readonly ReadLead[]> {
    if (pushed.size === 0) return [];
    const firsts = await this.#options.inbox.leadsBySeq([...pushed.keys()].slice(0, mostTogether));
    return firsts.flatMap(({ seq, source, receivedAt }): ReadLead[] => {
      const found = pushed.get(seq);
      if (found === undefined || source !== 'backfill') return [];
      const { one, stored } = found;
      return [{ one, stored: { ...stored, seq, attempt: 1, firstAt: receivedAt } }];
    });
  }

  /** Leads that came in one request go out in one. */
  async #try(
    target: Target,
    { stored, leads }: ReadRequest,
    { isAnswering, leasedAt }: { readonly isAnswering: boolean; readonly leasedAt: number },
    receiver: Handing,
  ): Promise<void> {
    const { verifier, clock, note } = this.#options;
    const { name } = target;
    const now = clock.now();
    try {
      const restored = restoreCredential(stored, verifier, now);
      if (restored.isUnsigned) note({ kind: 'handed-on-unsigned', scheme: verifier.scheme.name });
      const checked: CheckedDelivery = {
        ...asReceived({ ...restored.stored, receivedAt: now }, []),
        leads: leads.map(({ lead }) => lead),
        key: restored.isVerified ? 0 : -1,
      };
      const pending = leads.map(({ lead, leadId, seq, tries, since, attempt, firstAt }): PendingLead => {
        const targets = [{ name, tries, since, isAnswering }];
        const taken = { kind: 'pending', leadId, seq, attempt, firstAt, targets, busy: false } as const;
        return { lead, stored: taken };
      });
      await receiver.handOn(checked, pending, leasedAt);
    } catch (error) {
      // Where it is the inbox, they are due again once their leases end.
      if (!isUnreadable(error)) throw error;
      await this.#putOff(target, leads, error, receiver);
    }
  }

  /**
   * Leads that are leased, and cannot be handed on as they are stored, hold no other. The lease of one that was pushed
   * meanwhile is that of its try.
   */
  async #putOff(
    { name, giveUpMs = defaultGiveUpMs }: Target,
    leased: readonly DueLead[],
    error: Unreadable,
    receiver: Handing,
  ): Promise<void> {
    const { clock, note, sentenceOf } = this.#options;
    const leads = leased.filter(({ leadId }) => !receiver.isDispatching(leadId, name));
    if (leads.length === 0) return;
    const now = clock.now();
    note({
      kind: 'not-delivered-again',
      leadIds: leads.map(({ leadId }) => leadId),
      why: sentenceOf(error),
    });
    const isOver = leads.every(({ since }) => now - since >= giveUpMs);
    const next = isOver ? { dead: true as const } : { retryAt: now + longestPauseMs };
    await receiver.release(
      leads.map(({ leadId, seq, since }) => ({ leadId, seq, since, target: name, ...next })),
    );
  }

  /** Of a target that is away there are more leads than tries: all that waited too long are given up. */
  async #giveUpOverdue(line: Line, receiver: Handing): Promise<void> {
    const { inbox, clock, signal } = this.#options;
    const { name, giveUpMs = defaultGiveUpMs } = line.target;
    while (!signal.aborted) {
      const now = clock.now();
      const overdue = (await inbox.due(name, now, step)).filter(({ since }) => now - since >= giveUpMs);
      if (overdue.length === 0) return;
      const leases = overdue.map(({ leadId, seq, since }) => ({ leadId, seq, target: name, since }));
      const answers = await inbox.lease(leases);
      const leased = leases.filter(
        ({ leadId }, i) => answers[i]?.state === 'leased' && !receiver.isDispatching(leadId, name),
      );
      if (leased.length === 0) return;
      for (const { leadId } of leased) line.unsure.add(leadId);
      await receiver.release(leased.map((lease) => ({ ...lease, dead: true })));
      for (const { leadId } of leased) line.unsure.delete(leadId);
      line.givenUp += leased.length;
    }
  }

  async #sayGivenUp(line: Line): Promise<void> {
    const { givenUp, unsure } = line;
    if (givenUp === 0 && unsure.size === 0) return;
    const { inbox, note } = this.#options;
    const target = targetLabel(line.target.name);
    let newlyDead = givenUp;
    const known: string[] = [];
    for (const leadId of unsure) {
      const lacking = (await inbox.lackingTargets(leadId)).filter((one) => one.target === target);
      const isDead = lacking.some((one) => one.dead);
      if (isDead) newlyDead += 1;
      // One that is not given up may be so later: what was sent to the inbox may still be under way.
      if (isDead || lacking.length === 0) known.push(leadId);
    }
    const outstanding = await inbox.outstanding();
    const dead = outstanding.find((one) => one.target === target && one.wanted)?.dead ?? newlyDead;
    // They may have been begun anew since.
    if (newlyDead > 0 && dead > 0) note({ kind: 'given-up', target, leads: dead });
    for (const leadId of known) unsure.delete(leadId);
    line.givenUp -= givenUp;
  }
}

/**
 * Leads of which one shows whether a target answers again, the best first: in turn the newest of those that were not tried
 * yet, which others that it fails at hold least, and the one that was tried longest ago. It may fail at either kind alone.
 */
const probesOf = (
  due: readonly DueLead[],
  outages: number,
  { isFresh, isKnown }: { readonly isFresh: boolean; readonly isKnown: boolean },
): readonly DueLead[] => {
  const fresh = due.filter(({ tries }) => isFresh && tries === 0).toReversed();
  const known = due.filter(({ tries }) => isKnown && tries > 0);
  return outages % 2 === 1 ? [...fresh, ...known] : [...known, ...fresh];
};

/** One lead of a request that cannot be read holds no other of it. `error`: of the last such one. */
function readEach({ stored, leads: all }: StoredRequest) {
  const leads: ReadRequest['leads'][number][] = [];
  const unreadable: DueLead[] = [];
  let error: Unreadable | undefined;
  for (const one of all) {
    try {
      leads.push({ ...one, lead: checkedLead(stored, one) });
    } catch (failed) {
      if (!isUnreadable(failed)) throw failed;
      unreadable.push(one);
      error = failed;
    }
  }
  return { leads, unreadable, error };
}

/** A delivery as it is handed on; number and attempt are of the lead's first one, with which results are kept. */
interface HandedOn extends StoredDelivery {
  readonly firstAt: number;
}

/** Leads of one request that are leased, and the delivery of the first of them. */
interface StoredRequest {
  readonly stored: StoredDelivery;
  readonly leads: (DueLead & Pick<HandedOn, 'place' | 'attempt' | 'firstAt'>)[];
}

/** Those that can be handed on. */
interface ReadRequest {
  readonly stored: StoredDelivery;
  readonly leads: readonly (StoredRequest['leads'][number] & { readonly lead: CheckedLead })[];
}

/** A lead that is due, and its delivery. */
interface ReadLead {
  readonly one: DueLead;
  readonly stored: HandedOn | Unreadable;
}

/** The same of a delivery that need not be its first. */
interface ReadDelivery {
  readonly one: DueLead;
  readonly stored: StoredDelivery;
}
