import type { KindsOf } from '../errors.ts';
import { readCreatedAt } from '../lead/raw-lead.ts';
import { isTestId } from '../lead/test-id.ts';

/** What can be wrong with a lead, the first that fits: see `leads help audit`. */
export const problemClasses = ['refused', 'missing', 'extra', 'different', 'pending', 'late'] as const;

/** What is said of leads that nothing can be said of yet, or any more. */
export const openClasses = ['unsettled', 'beyond-horizon'] as const;

/** The classes of leads that are named one by one. */
export const findingClasses = [...problemClasses, ...openClasses] as const;

/** The service never had test leads, which is as it should be: they are counted. */
export const allClasses = ['test', ...findingClasses] as const;

/** The classes of leads that the service does not list. */
export const unlistedClasses = ['test', 'extra', 'beyond-horizon'] as const;

export type FindingClass = (typeof allClasses)[number];

/** The classes of leads that are in the service's list and not in the inbox. */
export type UnreceivedClass = 'refused' | 'missing';

/** Why a lead was rejected, or what else is known of it; `so-far`: of one that may still be under way. */
export type FindingReason = KindsOf<{
  'age-unknown': object;
  'body-pruned': object;
  'listed-outside': object;
  'rejected-as': { reason: string };
  'so-far': { class: FindingClass };
}>;

/** One lead that is not the same on both sides. */
export interface Finding {
  readonly class: FindingClass;
  readonly id: string;
  /** Of `different`: dotted names of the fields whose values are not the same, at most 20. */
  readonly fields: readonly string[] | null;
  /** As the service has it, or else as it was received. */
  readonly createdAt: string | null;
  /** ISO 8601. */
  readonly receivedAt: string | null;
  readonly reason: FindingReason | null;
}

/** What is known of one lead when everything was looked up. */
export interface LeadFacts {
  readonly id: string;
  /** As the lead says it. */
  readonly createdAt: string | undefined;
  /** ms; undefined where that is not known. */
  readonly receivedAt?: number | undefined;
  readonly found:
    | { readonly on: 'both'; readonly differing: readonly string[]; readonly isPending: boolean }
    /** In the service's list alone. `rejection`: why a delivery with its id was rejected. */
    | { readonly on: 'service'; readonly rejection: string | undefined }
    /** Received as the filter asks for, and listed with fields that it does not ask for. */
    | { readonly on: 'both-unequally' }
    /** Received alone. `isPruned`: nothing is left of it but when it came. */
    | { readonly on: 'inbox'; readonly isPruned: boolean };
}

/** How an audit judges ages; in milliseconds since the epoch where it is no span of time, by the service's clock. */
export interface AuditTimes {
  /** How far the service's clock is ahead of the one by which leads were received. */
  readonly clockAheadMs: number;
  readonly startedAt: number;
  /** What was created later may still be under way. */
  readonly settledBefore: number;
  readonly lateAfterMs: number;
}

/** Clocks that differ by less agree: `Date` has whole seconds, and an answer takes a while. */
export const agreeingMs = 60_000;

/** A clock that writes times may be ahead by that much; a time further in the future says nothing about an age. */
const mostAheadMs = 86_400_000;

/** Clocks differ, and a lead may be late: it came within a day of its creation, before or after. */
export const clockMarginMs = 86_400_000;

/**
 * What is wrong with a lead, if anything is. `horizon`: when the oldest lead was created that the service lists, ms;
 * undefined where it lists none.
 */
export function classifyLead(lead: LeadFacts, times: AuditTimes, horizon?: number): Finding | undefined {
  const { id, found } = lead;
  // Nearly every lead of an application's own export.
  const isSame = found.on === 'both' && found.differing.length === 0 && !found.isPending;
  if (isSame && lead.receivedAt === undefined) return undefined;
  const created = readCreatedAt(lead.createdAt);
  const receivedAt = lead.receivedAt === undefined ? undefined : lead.receivedAt + times.clockAheadMs;
  const came = { created, receivedAt };
  const isTest = found.on === 'inbox' && isTestId(id);
  const settled = isTest ? test : classOfSettled(found, came, times, horizon);
  if (settled === undefined) return undefined;
  const isYoung = !isTest && isUnderWay(found, came, times);
  return {
    class: isYoung ? 'unsettled' : settled.class,
    id,
    fields: settled.fields ?? null,
    createdAt: lead.createdAt ?? null,
    receivedAt: isoTime(lead.receivedAt),
    reason: isYoung ? { kind: 'so-far', class: settled.youngAs ?? settled.class } : settled.reason,
  };
}

interface Settled {
  readonly class: FindingClass;
  readonly fields?: readonly string[];
  readonly reason: FindingReason | null;
  /** What a young one is said to be so far, where that is another class. */
  readonly youngAs?: FindingClass;
}

const test: Settled = { class: 'test', reason: null };

/** When a lead was created, and when it was received, by the service's clock. */
interface Came {
  readonly created: number | undefined;
  readonly receivedAt: number | undefined;
}

/** The class of a lead that is old enough. */
function classOfSettled(
  found: LeadFacts['found'],
  came: Came,
  times: AuditTimes,
  horizon: number | undefined,
): Settled | undefined {
  const { created, receivedAt } = came;
  const ageUnknown = created === undefined ? ({ kind: 'age-unknown' } as const) : null;
  switch (found.on) {
    case 'both': {
      const { differing, isPending } = found;
      if (differing.length > 0) return { class: 'different', fields: differing, reason: ageUnknown };
      if (isPending) return { class: 'pending', reason: ageUnknown };
      return isLate(came, times) ? { class: 'late', reason: ageUnknown } : undefined;
    }
    case 'service':
      return found.rejection === undefined
        ? { class: 'missing', reason: ageUnknown }
        : { class: 'refused', reason: { kind: 'rejected-as', reason: found.rejection } };
    case 'both-unequally': {
      // Not one that came after it was found to be missing.
      if (created === undefined || (receivedAt ?? 0) >= times.startedAt) return undefined;
      return { class: 'different', reason: { kind: 'listed-outside' } };
    }
    case 'inbox': {
      const earliest = created ?? (receivedAt === undefined ? undefined : receivedAt - clockMarginMs);
      if (horizon === undefined || (earliest !== undefined && earliest <= horizon)) {
        return { class: 'beyond-horizon', reason: null, youngAs: 'extra' };
      }
      return { class: 'extra', reason: found.isPruned ? { kind: 'body-pruned' } : ageUnknown };
    }
  }
}

/**
 * The receivers' clock may be the service's, or the one here and as wrong, and none receives a lead before it was created: late
 * is what came late by each of the two by which that did not happen.
 */
function isLate({ created, receivedAt }: Came, { clockAheadMs, lateAfterMs }: AuditTimes): boolean {
  if (created === undefined || receivedAt === undefined) return false;
  const delays = [receivedAt - clockAheadMs - created, receivedAt - created];
  const possible = delays.filter((ms) => ms >= -agreeingMs);
  return possible.length > 0 && possible.every((ms) => ms > lateAfterMs);
}

/** Whether its delivery may still be under way. A lead whose age is unknown is taken for an old one. */
function isUnderWay(
  found: LeadFacts['found'],
  { created, receivedAt }: Came,
  { startedAt, settledBefore }: AuditTimes,
): boolean {
  const isUnsettled = (time: number | undefined): boolean =>
    time !== undefined && time > settledBefore && time < startedAt + mostAheadMs;
  if (found.on !== 'inbox') return isUnsettled(created);
  // What came during the walk may belong to a place that it had passed.
  return (receivedAt ?? 0) >= startedAt || isUnsettled(created ?? receivedAt);
}

/** As JSON shows it. */
export const isoTime = (ms: number | undefined): string | null =>
  ms === undefined ? null : new Date(ms).toISOString();
