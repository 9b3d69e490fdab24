import { isTestId, readCreatedAt } from '../lead/raw-lead.ts';
import { isoTime } from '../time/time-text.ts';

export const problemClasses = ['refused', 'missing', 'extra', 'different', 'waiting', 'late'] as const;

/** The classes of leads that cannot be judged yet, or that one side is too old, or too short, to show. */
export const openClasses = ['unsettled', 'after-file', 'beyond-horizon'] as const;

export const findingClasses = [...problemClasses, ...openClasses] as const;

/** All classes of leads. Test leads, which the service never had, are counted but are no findings to list. */
export const allClasses = ['test', ...findingClasses] as const;

/** The classes of leads that the service does not list. */
export const unlistedClasses = ['test', 'extra', 'beyond-horizon'] as const;

export type LeadClass = (typeof allClasses)[number];

/** The meaning of each class, for tables and help; a lead is in the first that fits. */
export const meanings: Readonly<Record<LeadClass, string>> = {
  test: 'sent by leads send or leads check, and not listed: no finding',
  refused: 'came and was rejected',
  missing: 'pulled, never received',
  extra: 'received, cannot be pulled',
  different: 'some fields do not mean the same',
  waiting: 'received, and some target has not had it',
  late: 'received later after its creation than --late-after',
  unsettled: 'younger than --settle: not counted',
  'after-file': 'created after the file was written, or just before',
  'beyond-horizon': 'older than what the service still lists: not counted',
};

/** The classes of leads that are not in the inbox: they can be repaired. */
export const unreceivedClasses = ['refused', 'missing'] as const;
export type UnreceivedClass = (typeof unreceivedClasses)[number];

export interface Finding {
  readonly class: LeadClass;
  readonly id: string;
  /** In the class `different`: dotted names of the fields whose values are not the same, at most 20. */
  readonly fields: readonly string[] | null;
  /** The text of the service, or else that of the received lead. */
  readonly createdAt: string | null;
  readonly receivedAt: string | null;
  readonly reason: string | null;
}

export interface LeadFacts {
  readonly id: string;
  readonly createdAt: string | undefined;
  readonly receivedAt?: number | undefined;
  readonly sides:
    | { readonly on: 'both'; readonly differing: readonly string[]; readonly isWaiting: boolean }
    /** The lead is in the service's list alone. `rejection`: why a delivery with its id was rejected. */
    | { readonly on: 'service'; readonly rejection: string | undefined }
    /** The received lead is within the window and the filters of the audit; the service lists it outside of them. */
    | { readonly on: 'listed-outside' }
    /** The lead was received, and is not listed. `isPruned`: only the time at which it came is left of it. */
    | { readonly on: 'inbox'; readonly isPruned: boolean };
}

/** The times by which an audit judges ages, in milliseconds. Points in time are since the epoch, by the service's clock. */
export interface AuditTimes {
  /** How far the service's clock is ahead of the one by which leads were received. */
  readonly clockAheadMs: number;
  readonly startedAt: number;
  /** A lead that was created later may still be under way. */
  readonly settledBefore: number;
  /** The time at which the file of received leads was written; Infinity for an inbox. */
  readonly writtenAt: number;
  readonly lateAfterMs: number;
}

/** Clocks that differ by less agree: `Date` has whole seconds, and an answer takes a while. */
const agreeingMs = 60_000;

/**
 * Decides by which clock the ages of leads are judged. It begins with the clock of this machine. Where the service's clock
 * differs, `follow` changes to that one, since it dates the leads. A listed lead may then show that the service's clock is wrong,
 * and `returnIfDisproven` changes back.
 */
export class AuditClock {
  times: AuditTimes;
  /** How far the service's clock is behind the one here, where a listed lead shows that it is wrong, ms; otherwise 0. */
  disprovenBehindMs = 0;
  readonly #timesHere: AuditTimes;

  constructor(times: Omit<AuditTimes, 'clockAheadMs'>) {
    this.#timesHere = { ...times, clockAheadMs: 0 };
    this.times = this.#timesHere;
  }

  /** `driftMs`: how far the service's clock is ahead of the one here. */
  follow(driftMs: number): void {
    if (Math.abs(driftMs) <= agreeingMs) return;
    const { startedAt, settledBefore, writtenAt } = this.#timesHere;
    this.times = {
      ...this.#timesHere,
      clockAheadMs: driftMs,
      startedAt: startedAt + driftMs,
      settledBefore: settledBefore + driftMs,
      writtenAt: writtenAt + driftMs,
    };
  }

  /** A lead that is from the future by the service's clock alone disproves it; by both clocks, it says nothing of them. */
  returnIfDisproven(created: number, now: number): void {
    const { clockAheadMs } = this.times;
    const isFutureHere = created > now + agreeingMs;
    const isFutureForService = created > now + clockAheadMs + agreeingMs;
    if (isFutureHere || !isFutureForService) return;
    this.disprovenBehindMs = -clockAheadMs;
    this.times = this.#timesHere;
  }
}

const dayMs = 86_400_000;
/** A creation time up to a day ahead comes from a clock that is wrong; one further in the future says nothing about an age. */
const mostAheadMs = dayMs;

/** A lead is taken to come at most a day before or after its creation time: clocks differ, and deliveries may be late. */
export const clockMarginMs = dayMs;

/**
 * Judges the lead as if its delivery were over, and says so with a reservation while it may still be under way. Undefined for a
 * lead that is in order. `horizon`: the time at which the oldest lead was created that the service lists, ms; undefined where it
 * lists none.
 */
export function classifyLead(lead: LeadFacts, times: AuditTimes, horizon?: number): Finding | undefined {
  const { id, sides } = lead;
  // This saves time: nearly every lead of an application's own export, which has no times of receipt, is in order.
  const isSame = sides.on === 'both' && sides.differing.length === 0 && !sides.isWaiting;
  if (isSame && lead.receivedAt === undefined) return undefined;
  const created = readCreatedAt(lead.createdAt);
  const receivedAt = lead.receivedAt === undefined ? undefined : lead.receivedAt + times.clockAheadMs;
  const lifetime = { created, receivedAt };
  const isTest = sides.on === 'inbox' && isTestId(id);
  const judgement: Judgement | undefined = isTest
    ? { class: 'test', reason: null }
    : judgeAsSettled(sides, lifetime, times, horizon);
  if (judgement === undefined) return undefined;
  const isUnsettled = !isTest && judgement.class !== 'after-file' && mayBeUnderWay(sides, lifetime, times);
  return {
    class: isUnsettled ? 'unsettled' : judgement.class,
    id,
    fields: judgement.fields ?? null,
    createdAt: lead.createdAt ?? null,
    receivedAt: isoTime(lead.receivedAt),
    reason: isUnsettled ? `${judgement.classSoFar ?? judgement.class} so far` : judgement.reason,
  };
}

interface Judgement {
  readonly class: LeadClass;
  readonly fields?: readonly string[];
  readonly reason: string | null;
  /** The class of the lead while it is unsettled, where that is another one. */
  readonly classSoFar?: LeadClass;
}

/** Both times are by the service's clock. */
interface Lifetime {
  readonly created: number | undefined;
  readonly receivedAt: number | undefined;
}

function judgeAsSettled(
  sides: LeadFacts['sides'],
  lifetime: Lifetime,
  times: AuditTimes,
  horizon: number | undefined,
): Judgement | undefined {
  const { created, receivedAt } = lifetime;
  const ageUnknown = created === undefined ? 'its age is unknown: createdAt is no known form of time' : null;
  switch (sides.on) {
    case 'both': {
      const { differing, isWaiting } = sides;
      if (differing.length > 0) return { class: 'different', fields: differing, reason: ageUnknown };
      if (isWaiting) return { class: 'waiting', reason: ageUnknown };
      return isLate(lifetime, times) ? { class: 'late', reason: ageUnknown } : undefined;
    }
    case 'service':
      if (isAfterFile(created, times)) return { class: 'after-file', reason: null };
      return sides.rejection === undefined
        ? { class: 'missing', reason: ageUnknown }
        : { class: 'refused', reason: sides.rejection };
    case 'listed-outside': {
      // A lead that came after the start of the audit may have been pulled, and judged as missing, before it came.
      const cameDuringAudit = (receivedAt ?? 0) >= times.startedAt;
      if (created === undefined || cameDuringAudit) return undefined;
      return { class: 'different', reason: 'the service lists it outside of the window or the filters' };
    }
    case 'inbox': {
      // A list that goes back no further than the lead's creation may have dropped the lead for its age.
      const earliestCreated = created ?? (receivedAt === undefined ? Infinity : receivedAt - clockMarginMs);
      if (horizon === undefined || earliestCreated <= horizon) {
        return { class: 'beyond-horizon', reason: null, classSoFar: 'extra' };
      }
      return {
        class: 'extra',
        reason: sides.isPruned ? 'when it was created is not known: its body was pruned' : ageUnknown,
      };
    }
  }
}

/**
 * A lead is late if it is late by both clocks: the receiver's may agree with the service's, or may be as wrong as the clock of
 * this machine. A clock by which the lead came before it was created does not count.
 */
function isLate({ created, receivedAt }: Lifetime, { clockAheadMs, lateAfterMs }: AuditTimes): boolean {
  if (created === undefined || receivedAt === undefined) return false;
  const delayByService = receivedAt - created;
  const delayByReceiver = delayByService - clockAheadMs;
  const possibleDelays = [delayByReceiver, delayByService].filter((ms) => ms >= -agreeingMs);
  return possibleDelays.length > 0 && possibleDelays.every((ms) => ms > lateAfterMs);
}

/** A lead that was created less than the time of settling before the file was written may have been under way then. */
function isAfterFile(
  created: number | undefined,
  { startedAt, settledBefore, writtenAt }: AuditTimes,
): boolean {
  if (created === undefined) return false;
  const wasYoung = created > writtenAt - (startedAt - settledBefore);
  return (wasYoung && created <= settledBefore) || (created > writtenAt && created < startedAt + mostAheadMs);
}

/** A lead whose age is unknown is taken for an old one. */
function mayBeUnderWay(
  sides: LeadFacts['sides'],
  { created, receivedAt }: Lifetime,
  { startedAt, settledBefore }: AuditTimes,
): boolean {
  const isYoung = (time: number | undefined): boolean =>
    time !== undefined && time > settledBefore && time < startedAt + mostAheadMs;
  if (sides.on !== 'inbox') return isYoung(created);
  // A lead that came during the walk may belong to a place that the walk had passed.
  const cameDuringAudit = (receivedAt ?? 0) >= startedAt;
  return cameDuringAudit || isYoung(created ?? receivedAt);
}
