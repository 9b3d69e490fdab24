import type { Dialect } from '../../config/dialect.ts';
import type { LeadsError } from '../../errors.ts';
import { formatDuration } from '../../time/time-text.ts';
import { checkNamed, type CheckResult } from '../check-result.ts';
import type { ClockSight } from '../service-connection.ts';
import type { RateHeaders } from './limited-requests.ts';
import type { FilterFinding, StatusField } from './find-filter.ts';
import type { LimitFinding } from './find-limit.ts';
import type { PositionFinding } from './find-position.ts';
import type { TimeFilterFinding } from './find-time-filter.ts';
import type { CapFinding } from './page-cap.ts';
import type { LeadOrder } from './seen-page.ts';

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
  readonly order: LeadOrder;
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
  const where = items === '' ? 'the answer is the array' : `the leads are at ${items}`;
  if (count === 0) return check.warn(`${where}, and there is none`, 'run it again when there are leads');
  if (id.isThere) return check.pass(`${where}, ${count} without asking for more`);
  return check.warn({ kind: 'leads-without-id', where, name: id.name, candidates: id.candidates });
}

function checkPagination({ position }: DialectFindings): CheckResult {
  const check = checkNamed('dialect.pagination');
  switch (position.kind) {
    case 'found': {
      const { style, evidence, unseen } = position;
      if (unseen === undefined) return check.pass(`${style}: ${evidence}`);
      return check.warn({ kind: 'paging-undecided', why: `${style}; ${unseen}`, advice: 'more-leads' });
    }
    case 'alone':
      return check.pass(`one page: ${position.evidence}`);
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
  if (limit.kind === 'ignored') return check.warn(`${limit.name} is ignored: ${limit.evidence}`);
  switch (cap.kind) {
    case 'cap':
      return check.pass(`${cap.size} a page: ${cap.evidence}`);
    case 'none':
      return check.pass(`${limit.name}, ${cap.size} a page and perhaps more`);
    case 'unreached':
      return check.pass(`${limit.name}; all ${cap.count} leads came at once, so no cap shows`);
    default:
      return check.pass(`${limit.name}: ${limit.evidence}`);
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
  if (filter.kind === 'wrong' && filter.bringsOthers === true)
    return check.warn(`not used: ${filter.evidence}`, 'the list is cut, or the filter reaches beyond it');
  // What is not sent does no harm: times are held against each lead here.
  if (!isSent) return check.skip(`no usual name is understood, so leads narrows here: ${filter.evidence}`);
  const { evidence } = filter;
  if (filter.kind === 'ignored') return check.warn({ kind: 'filter-ignored', name, evidence, isLearning });
  const isWritten = filter.kind === 'rejected' || (filter.isLossy === true && name !== 'status');
  return check.warn(isLearning && isWritten ? evidence : { kind: 'filter-harmful', name, evidence });
}

function checkStatusField({ statusFields }: DialectFindings): CheckResult {
  const check = checkNamed('dialect.status-field');
  const [first, second] = statusFields;
  if (first === undefined) return check.skip('no field of a lead looks like a status');
  const seen = statusFields.map(({ name, values }) => `${name}: ${values.slice(0, 8).join(', ')}`).join('; ');
  return second === undefined
    ? check.pass(seen)
    : check.warn({ kind: 'two-status-fields', fields: [first.name, second.name], seen });
}

function checkRate({ rate, refusedFor, requests }: DialectFindings): CheckResult {
  const check = checkNamed('dialect.rate-limit');
  if (refusedFor !== undefined) {
    const when = refusedFor.ms === undefined ? 'later' : `in ${formatDuration(refusedFor.ms)}`;
    return check.warn(
      `reached after ${requests} requests, which ended the questions`,
      `run it again ${when}, when requests are allowed again`,
    );
  }
  if (rate === undefined) return check.pass('no header tells of one');
  const { names, limit, remaining, resetMs } = rate;
  const parts = [
    limit === undefined ? undefined : `${limit} requests`,
    remaining === undefined ? undefined : `${remaining} left`,
    resetMs === undefined ? undefined : `more in ${formatDuration(Math.max(0, resetMs))}`,
  ].filter((part) => part !== undefined);
  return check.pass(`${parts.join(', ') || 'told'} (${names.join(', ')})`);
}

function checkOrder({ order }: DialectFindings): CheckResult {
  const check = checkNamed('dialect.order');
  return order === 'unknown' ? check.skip('the times of the leads do not show it') : check.pass(order);
}
