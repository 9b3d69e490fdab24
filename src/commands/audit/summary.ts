import { allClasses, type FindingClass, isoTime, problemClasses } from '../../audit/classify-lead.ts';
import type { Audit, AuditCounts } from '../../audit/audit.ts';
import type { LeadFilter } from '../../lead/filter.ts';
import { counted, grouped } from '../../output/terminal/progress.ts';

/** The last line of `--json`; its fields are public. Times are ISO 8601. */
export interface AuditSummary {
  readonly type: 'summary';
  readonly window: { readonly since: string | null; readonly until: string | null };
  /** When the oldest lead was created that the service listed. */
  readonly horizon: string | null;
  readonly pulled: number;
  readonly received: number;
  readonly matched: number;
  /** Of these, the leads that were fetched and never pushed. */
  readonly backfilled: number;
  /** Leads on both sides of which only the list has some fields that no push carries, and these fields. */
  readonly richer: number;
  readonly richerFields: readonly string[];
  /** null: cannot be told. */
  readonly byClass: AuditCounts['byClass'];
  /** Records of the list that nothing can be said about: no receiver takes a lead in that has no usable id. */
  readonly withoutId: number;
  /** Of the leads that are old enough, the share that was not received; null when there are none. */
  readonly lossRate: number | null;
  readonly repaired: number;
}

export function summarize(
  {
    counts: { pulled, received, matched, backfilled, richer, byClass, horizon, withoutId },
    richerFields,
  }: Pick<Audit, 'counts' | 'richerFields'>,
  { since, until }: Pick<LeadFilter, 'since' | 'until'>,
  repaired = 0,
): AuditSummary {
  const lost = (byClass.missing ?? 0) + (byClass.refused ?? 0);
  const settled = matched + lost;
  return {
    type: 'summary',
    window: { since: isoTime(since), until: isoTime(until) },
    horizon: isoTime(horizon),
    pulled,
    received,
    matched,
    backfilled,
    richer,
    richerFields,
    byClass: Object.fromEntries(allClasses.map((kind) => [kind, byClass[kind]])) as AuditCounts['byClass'],
    withoutId,
    lossRate: settled === 0 ? null : Number((lost / settled).toFixed(6)),
    repaired,
  };
}

/**
 * Why nothing can be said of most of what was received: the service does not list leads that old. Undefined where it lists
 * enough of them.
 */
export function horizonDoubt({ received, byClass, horizon }: AuditSummary): string | undefined {
  const beyond = byClass['beyond-horizon'] ?? 0;
  const compared = received - (byClass.test ?? 0);
  if (beyond * 2 <= compared) return undefined;
  const listed = horizon === null ? 'the service lists no lead' : `the service lists none before ${horizon}`;
  return `most of what was received cannot be compared: ${grouped(beyond)} of ${counted(compared, 'lead', 'leads')} are older than the list, and ${listed}`;
}

/** Leads that are a reason for exit 7: those on which both sides do not agree, and those that cannot be compared by an id. */
export const problemsIn = ({ byClass, withoutId }: Pick<AuditSummary, 'byClass' | 'withoutId'>): number =>
  problemClasses.reduce((sum, kind) => sum + (byClass[kind] ?? 0), withoutId);

/** Each class in a few words. */
export const meanings: Readonly<Record<FindingClass, string>> = {
  test: 'sent by leads send or leads check',
  refused: 'came and was rejected',
  missing: 'pulled, never received',
  extra: 'received, cannot be pulled',
  different: 'not the same in some fields',
  pending: 'received, not yet forwarded',
  late: 'received late',
  unsettled: 'too young to be counted',
  'beyond-horizon': 'received, older than what the service lists',
};
