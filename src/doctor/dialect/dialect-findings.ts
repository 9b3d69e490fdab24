import type { Dialect } from '../../config/dialect.ts';
import type { LeadsError } from '../../errors.ts';
import { checkNamed, type CheckResult } from '../check-result.ts';
import type { ClockSight } from '../service-connection.ts';
import type { LeadOrder, RateHeaders, StatusField } from '../problems.ts';
import type { FilterFinding } from './find-filter.ts';
import type { LimitFinding } from './find-limit.ts';
import type { PositionFinding } from './find-position.ts';
import type { TimeFilterFinding } from './find-time-filter.ts';
import type { CapFinding } from './page-cap.ts';

/** What the list operation of a service turned out to be. */
export interface DialectFindings extends ClockSight {
  readonly kind: 'examined';
  readonly requests: number;
  /** JSON Pointer to the array of leads. */
  readonly items: string;
  /** Leads on the first page. */
  readonly count: number;
  /** Whether the leads have ids by the name in force; otherwise fields that may be it. */
  readonly id: { readonly isThere: boolean; readonly name: string; readonly candidates: readonly string[] };
  readonly order: LeadOrder | undefined;
  readonly rate: RateHeaders | undefined;
  /** How long further requests are refused, where that ended the questions; ms, undefined where that is not known. */
  readonly refusedFor: { readonly ms: number | undefined } | undefined;
  readonly limit: LimitFinding;
  readonly cap: CapFinding;
  readonly position: PositionFinding;
  readonly statusFields: readonly StatusField[];
  readonly status: FilterFinding;
  readonly category: FilterFinding;
  readonly since: TimeFilterFinding;
  readonly until: TimeFilterFinding;
}

export type Examination =
  | DialectFindings
  /** The service could not be asked, or its answer holds no leads. */
  | (ClockSight & { readonly kind: 'failed'; readonly error: LeadsError });

/** What the findings are for the operator: what works, what is ignored, and what to decide. */
export function dialectChecks(
  findings: DialectFindings,
  inForce: Dialect,
  isLearning: boolean,
): CheckResult[] {
  const { since, until, status, category } = findings;
  const { params } = inForce;
  const times = { since: params?.since ?? undefined, until: params?.until ?? undefined };
  return [
    checkEnvelope(findings),
    checkPagination(findings),
    checkPageSize(findings),
    checkFilter('status', status, { isLearning, isSent: params?.status !== null }),
    checkFilter('category', category, { isLearning, isSent: params?.category !== null }),
    checkFilter('since', since, { isLearning, isSent: times.since !== undefined }),
    checkFilter('until', until, { isLearning, isSent: times.until !== undefined }),
    checkStatusField(findings),
    checkOrder(findings),
    checkRate(findings),
  ];
}

function checkEnvelope({ items, count, id }: DialectFindings): CheckResult {
  const check = checkNamed('dialect.envelope');
  if (count === 0) return check.warn({ kind: 'no-lead-listed', items });
  if (id.isThere) return check.pass({ kind: 'leads-listed', items, count });
  return check.warn({ kind: 'leads-without-id', items, name: id.name, candidates: id.candidates });
}

function checkPagination({ position }: DialectFindings): CheckResult {
  const check = checkNamed('dialect.pagination');
  switch (position.kind) {
    case 'found': {
      const { style, evidence, isBaseUnseen } = position;
      if (isBaseUnseen !== true) return check.pass({ kind: 'paging-found', style, evidence });
      const why = { kind: 'page-base-unseen', style } as const;
      return check.warn({ kind: 'paging-undecided', why, advice: 'more-leads' });
    }
    case 'alone':
      return check.pass({ kind: 'paging-found', style: { kind: 'one-page' }, evidence: position.evidence });
    case 'undecided':
      return check.warn({ kind: 'paging-undecided', why: position.why, advice: position.advice });
  }
}

function checkPageSize({ limit, cap }: DialectFindings): CheckResult {
  const check = checkNamed('dialect.page-size');
  if (limit.kind === 'unknown') return check.skip(limit.why);
  if (limit.kind === 'filtered' || limit.kind === 'rejected') {
    return check.warn({ kind: 'limit-harmful', evidence: limit.evidence });
  }
  const { name, evidence } = limit;
  if (limit.kind === 'ignored') return check.warn({ kind: 'limit-ignored', name, evidence });
  switch (cap.kind) {
    case 'cap':
      return check.pass({ ...cap, kind: 'page-cap' });
    case 'none':
      return check.pass({ kind: 'page-cap-unknown', name, size: cap.size });
    case 'unreached':
      return check.pass({ kind: 'page-cap-unreached', name, count: cap.count });
    default:
      return check.pass({ kind: 'limit-honoured', name, evidence });
  }
}

function checkFilter(
  name: 'status' | 'category' | 'since' | 'until',
  filter: FilterFinding,
  { isLearning, isSent }: { readonly isLearning: boolean; readonly isSent: boolean },
): CheckResult {
  const check = checkNamed(`dialect.${name}`);
  if (filter.kind === 'honoured') return check.pass(filter.evidence);
  if (filter.kind === 'unknown') return check.skip(filter.why);
  const { evidence } = filter;
  if (filter.kind === 'wrong' && filter.bringsOthers === true)
    return check.warn({ kind: 'filter-unused', evidence });
  // What is not sent does no harm: times are held against each lead here.
  if (!isSent) return check.skip({ kind: 'filter-unknown', evidence });
  if (filter.kind === 'ignored') return check.warn({ kind: 'filter-ignored', name, evidence, isLearning });
  const isWritten = filter.kind === 'rejected' || (filter.isLossy === true && name !== 'status');
  return check.warn(isLearning && isWritten ? evidence : { kind: 'filter-harmful', name, evidence });
}

function checkStatusField({ statusFields }: DialectFindings): CheckResult {
  const check = checkNamed('dialect.status-field');
  const [first, second, ...others] = statusFields;
  if (first === undefined) return check.skip({ kind: 'status-unseen' });
  return second === undefined
    ? check.pass({ kind: 'status-field', field: first })
    : check.warn({ kind: 'two-status-fields', fields: [first, second, ...others] });
}

function checkRate({ rate, refusedFor, requests }: DialectFindings): CheckResult {
  const check = checkNamed('dialect.rate-limit');
  if (refusedFor !== undefined) return check.warn({ kind: 'requests-limited', requests, ms: refusedFor.ms });
  return check.pass(rate === undefined ? { kind: 'rate-untold' } : { kind: 'rate-told', ...rate });
}

function checkOrder({ order }: DialectFindings): CheckResult {
  const check = checkNamed('dialect.order');
  return order === undefined
    ? check.skip({ kind: 'order-unseen' })
    : check.pass({ kind: 'leads-in-order', order });
}
