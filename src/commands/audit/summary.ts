import type { Audit } from '../../audit/audit.ts';
import { allClasses, problemClasses } from '../../audit/classify-lead.ts';
import { DataError } from '../../errors.ts';
import type { LeadFilter } from '../../lead/filter.ts';
import type { Messages } from '../../output/messages.ts';
import { counted, grouped } from '../../output/terminal/progress.ts';
import { formatSeconds, isoTime } from '../../time/time-text.ts';

/** The last line of the JSON; tables and verdicts are made of it, too. */
export type AuditSummary = ReturnType<typeof summarize>;

export function summarize(
  { pulled, received, matched, byClass, horizon, withoutId }: Audit['counts'],
  { since, until }: Pick<LeadFilter, 'since' | 'until'>,
  repaired: number,
) {
  return {
    type: 'summary',
    window: { since: isoTime(since), until: isoTime(until) },
    horizon: isoTime(horizon),
    pulled,
    received,
    matched,
    byClass: Object.fromEntries(allClasses.map((kind) => [kind, byClass[kind]])) as typeof byClass,
    withoutId,
    repaired,
  };
}

/**
 * Undefined where at least half of the received leads can be judged. The others are older than what the service lists.
 * `listedSince`: in the form of `--since`, when the oldest listed leads were created.
 */
export function horizonError(
  { received, byClass, horizon }: AuditSummary,
  listedSince: string | undefined,
): DataError | undefined {
  const beyond = byClass['beyond-horizon'] ?? 0;
  const compared = received - (byClass.test ?? 0);
  if (beyond * 2 <= compared) return undefined;
  const listed = horizon === null ? 'the service lists no lead' : `the service lists none before ${horizon}`;
  const leads = `${grouped(beyond)} of ${counted(compared, 'lead', 'leads')}`;
  return new DataError(
    `most of what was received cannot be compared: ${leads} are older than the list, and ${listed}`,
    {
      hint:
        listedSince === undefined
          ? "see with 'leads list --limit all' whether the service lists any lead"
          : `compare what it lists: leads audit --since ${listedSince}`,
    },
  );
}

/** Leads that are a reason for exit 7: those on which both sides do not agree, and those that cannot be compared by an id. */
export const problemsIn = ({ byClass, withoutId }: Pick<AuditSummary, 'byClass' | 'withoutId'>): number =>
  problemClasses.reduce((sum, kind) => sum + (byClass[kind] ?? 0), withoutId);

export function noteClock(
  { times, disprovenBehindMs: serviceBehindMs }: Audit['clock'],
  messages: Messages,
): void {
  const { clockAheadMs: serviceAheadMs } = times;
  const decides = 'decides here how old a lead is';
  if (serviceAheadMs !== 0) {
    const side = serviceAheadMs > 0 ? 'behind' : 'ahead of';
    const difference = `${formatSeconds(Math.abs(serviceAheadMs))} ${side} the service's`;
    messages.note('clock', `this machine's clock is ${difference}, which ${decides}`);
  }
  if (serviceBehindMs > 0) {
    const behind = `${formatSeconds(serviceBehindMs)} behind this machine's clock, which ${decides}`;
    messages.note('clock', `the service's 'Date' is older than leads that it lists, and ${behind}`);
  }
}

export function noteCounts({ counts, listedCount }: Audit, messages: Messages): void {
  const { pulled, withoutId, horizon, notCompared, notJudged } = counts;
  if (listedCount === 0) {
    messages.warn('the service lists no lead: whether one is missing, or too many, cannot be told');
  } else if (horizon === undefined) {
    messages.note(
      'no-horizon',
      "no lead of the list says in 'createdAt' when it was created: whether others were received that it no longer shows cannot be told",
    );
  }
  if (withoutId > 0) {
    const records = counted(withoutId, 'record of the service has', 'records of the service have');
    const help = pulled === 0 ? ': leads config set api.id FIELD names another field' : '';
    messages.warn(
      `${records} no usable id, so nothing can be said about ${withoutId === 1 ? 'it' : 'them'}${help}`,
    );
  }
  if (notCompared > 0) {
    const leads = counted(notCompared, 'lead has', 'leads have');
    messages.warn(
      `${leads} other bytes than what was received, and could not be compared: the received body was pruned`,
    );
  }
  if (notJudged > 0) {
    const leads = counted(notJudged, 'received lead is', 'received leads are');
    messages.warn(
      `${leads} not in the list, and may be extra: the received body was pruned, so that no filter can choose among them`,
    );
  }
}
