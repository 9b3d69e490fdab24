import { DataError, LeadsError } from '../../errors.ts';
import { formatPointer } from '../../json/exact.ts';
import type { Service } from '../../service/client/service.ts';
import { isUsualCap } from '../../service/pagers/ends.ts';
import { provenUpTo } from '../../service/run-memory.ts';
import type { CheckResult } from '../check-result.ts';
import type { DialectEvidence } from '../problems.ts';
import type { ClockSight } from '../service-connection.ts';
import { Asker, type SeenPage, type Walked } from './asker.ts';
import { type FilterFinding, findFilters } from './find-filters.ts';
import { findLimit, readLargestPage, reportPageSize } from './find-limit.ts';
import { findPosition, type PositionFinding, undecided } from './find-position.ts';
import { type LearntKey, Report } from './report.ts';
import { idFieldsOf, keysOf, orderOf } from './seen-leads.ts';

export type Examination =
  | (ClockSight & {
      readonly kind: 'examined';
      readonly requests: number;
      readonly checks: readonly CheckResult[];
      /** Keys of the dialect that the answers prove. */
      readonly keys: readonly LearntKey[];
    })
  /** The service could not be asked, or its answer holds no leads. */
  | (ClockSight & { readonly kind: 'failed'; readonly error: LeadsError });

/** Leads on each of the pages that are walked over. */
const walkedSize = 5;
/** Fewer leads than that need no proof that they are all. */
const fewest = 5;

/**
 * Asks the list operation at most 25 times, and tells what it does. With `isLearning` other names of parameters are tried
 * than those in force, and it is found out anew how pages follow each other.
 */
export async function examineDialect(service: Service, isLearning: boolean): Promise<Examination> {
  const asker = new Asker(service);
  try {
    const { checks, keys } = await examine(asker, isLearning);
    const { requests, drift } = asker;
    return { kind: 'examined', requests, checks, keys, drift, isReached: true };
  } catch (error) {
    if (service.signal.aborted || !(error instanceof LeadsError)) throw error;
    return { kind: 'failed', error, drift: asker.drift, isReached: asker.isReached };
  }
}

async function examine(asker: Asker, isLearning: boolean): Promise<Report> {
  const report = new Report();
  const first = await readFirst(asker, report, isLearning);
  const limit = await findLimit(asker, first, isLearning);
  if (isLearning && limit.kind === 'honoured') asker.dialect = asker.with({ params: { limit: limit.name } });
  if (isLearning && limit.kind === 'harmful') asker.dialect = asker.with({ params: { limit: null } });
  const reference = await readLargestPage(asker, first, limit);
  const { leads } = reference.page;
  const front = keysOf(leads);
  const items = formatPointer((reference.page.facts ?? first.facts)?.envelope.path ?? []);
  if (isLearning) asker.dialect = asker.with({ items, pagination: 'auto', next: 'auto' });
  // Of a list that fits on one page, smaller pages show how they follow each other: three at least.
  const most = limit.kind === 'honoured' ? Math.min(walkedSize, Math.floor((front.length - 1) / 2)) : 0;
  const isLikelyAll = most > 0 && !isUsualCap(front.length);
  const whole = isLikelyAll ? undefined : await asker.walk(asker.dialect, reference.size);
  const isSmall = most > 0 && (whole === undefined || whole.pages.length < 2);
  const size = isSmall ? most : reference.size;
  const asFound = whole === undefined || isSmall ? await asker.walk(asker.dialect, size) : whole;
  const search = { asker, isLearning, limit, front, size, first, largest: reference.page };
  const [position, asWalked] = await findPosition(search, asFound);
  if (isLearning && position.kind === 'found') asker.dialect = asker.with(position.dialect);
  const isKnown = position.kind === 'found' ? !isSmall : whole !== undefined;
  const known = position.kind === 'found' ? asWalked : whole;
  const asLearnt = isKnown && known !== undefined ? known : await asker.walk(asker.dialect, reference.size);
  const walked = asLearnt.pages.flat();
  const list = {
    leads: walked.length < leads.length ? leads : walked,
    capacity: leads.length,
    isWhole: asLearnt.completion?.kind === 'complete' || isUnproven(asLearnt),
  };
  const { ignoresUnknown } = limit;
  const filterSearch = { asker, report, isLearning, ignoresUnknown, list, query: reference.query };
  reportPageSize(report, limit, reference, asLearnt);
  const filters = await findFilters(filterSearch);
  const seen = { walked: asLearnt, filters: Object.values(filters) };
  reportPosition(report, provenPosition(position, front, asLearnt), seen, asker);
  const evidence = {
    kind: items === '' ? 'leads-in-array' : 'leads-came-there',
    count: first.count,
  } as const;
  if (first.count > 0) report.learn('items', items, evidence);
  reportEnvelope(report, items, first, asker.dialect.id ?? 'id');
  const order = orderOf(leads);
  if (order === undefined) report.add('order', 'skip', { kind: 'order-unseen' });
  else report.add('order', 'pass', { kind: 'leads-in-order', order });
  reportRate(report, asker);
  return report;
}

/** The list without any parameter. Throws a `DataError` where that is no page. */
async function readFirst(asker: Asker, report: Report, isLearning: boolean): Promise<SeenPage> {
  let seen = await asker.ask({});
  if (seen.kind === 'rejected' && isLearning && seen.error.status === undefined) {
    asker.dialect = asker.with({ items: 'auto' });
    seen = await asker.ask({});
  }
  if (seen.kind === 'rejected') throw seen.error;
  if (seen.kind === 'unasked') throw new DataError({ kind: 'requests-spent' });
  if (!isLearning || seen.leads.every(({ hasId }) => hasId)) return seen;
  const [id, ...others] = idFieldsOf(seen.leads);
  if (id === undefined || others.length > 0) return seen;
  report.learn('id', id, { kind: 'id-distinct', name: id });
  asker.dialect = asker.with({ id });
  const again = await asker.ask({});
  return again.kind === 'page' ? again : seen;
}

/** What was found of the pages, unless a walk in that dialect misses leads of the list as it was found. */
function provenPosition(
  position: PositionFinding,
  front: readonly string[],
  { pages, completion, refusal }: Walked,
): PositionFinding {
  if (position.kind !== 'found') return position;
  const brought = new Set(keysOf(pages.flat()));
  // What lies behind the pages that were walked over was not asked for.
  const asked = completion === undefined ? front.slice(0, brought.size) : front;
  const missing = asked.filter((key) => !brought.has(key)).length;
  if (refusal === undefined && missing === 0) return position;
  const missed = { kind: 'leads-missing', missing, asked: asked.length } as const;
  const why: DialectEvidence = refusal === undefined ? missed : { kind: 'said', text: refusal.sentence };
  return undecided({ kind: 'learnt-walk-failed', style: position.style, why }, 'repeat');
}

/** The walk took one page for the end of the list, and nothing proves that. */
const isUnproven = ({ completion }: Walked): boolean =>
  completion?.kind === 'unproven' && completion.reason.kind === 'page-may-be-cut';

function reportPosition(
  report: Report,
  position: PositionFinding,
  { walked, filters }: { readonly walked: Walked; readonly filters: readonly FilterFinding[] },
  { inForce }: Asker,
): void {
  const isLone = position.kind === 'undecided' && walked.pages.length === 1;
  const beyond = isLone ? filters.find(({ effect }) => effect === 'others') : undefined;
  const upTo = isLone && beyond === undefined ? provenUpTo(walked.completion) : undefined;
  const count = walked.pages.flat().length;
  if (position.kind === 'found') {
    const { style, evidence, dialect: changes } = position;
    const { params = {}, pagination, next, nextSeen } = changes;
    for (const [name, value] of Object.entries(params)) report.learn(`params.${name}`, value, evidence);
    // What is found without being told needs no setting, unless there is another one.
    if (pagination !== 'auto' || (inForce.pagination ?? 'auto') !== 'auto')
      report.learn('pagination', pagination, evidence);
    report.learn('next', next, evidence);
    const [{ length } = []] = walked.pages;
    const uncut =
      params.page !== undefined && pagination === 'auto' && length > fewest ? length - 1 : undefined;
    report.learn('proven-up-to', uncut, { kind: 'leads-in-one-answer', count: length });
    report.learn('next-seen', nextSeen, { kind: 'next-page-named' });
    report.add('pagination', 'pass', { kind: 'paging-found', style, evidence });
  } else if (upTo !== undefined) {
    const evidence = { kind: 'proven-up-to', count: upTo } as const;
    report.learn('proven-up-to', upTo, evidence);
    report.add('pagination', 'pass', { kind: 'paging-found', style: { kind: 'one-page' }, evidence });
  } else {
    const cut = beyond && ({ kind: 'list-cut', evidence: beyond.evidence } as const);
    const advice = cut === undefined ? position.advice : 'name-parameter';
    report.add('pagination', 'warn', { kind: 'paging-undecided', why: cut ?? position.why, advice });
    if (isLone && isUnproven(walked) && count > fewest)
      report.learn('proven-up-to', count - 1, { kind: 'leads-in-one-answer', count });
  }
}

function reportEnvelope(report: Report, items: string, { count, leads }: SeenPage, name: string): void {
  const candidates = idFieldsOf(leads);
  if (count === 0) report.add('envelope', 'warn', { kind: 'no-lead-listed', items });
  else if (leads.every(({ hasId }) => hasId))
    report.add('envelope', 'pass', { kind: 'leads-listed', items, count });
  else report.add('envelope', 'warn', { kind: 'leads-without-id', items, name, candidates });
}

function reportRate(report: Report, { isRefused, waitMs, requests, headers }: Asker): void {
  if (isRefused) {
    const ms = waitMs > 0 ? waitMs : undefined;
    report.add('rate-limit', 'warn', { kind: 'requests-limited', requests, ms });
    return;
  }
  const told = Object.entries(headers).filter(([name]) => /^(x-)?rate-?limit/.test(name));
  if (told.length === 0) {
    report.add('rate-limit', 'pass', { kind: 'rate-untold' });
    return;
  }
  const [, limit] = told.find(([name]) => name.endsWith('-limit')) ?? [];
  const names = told.map(([name]) => name);
  report.add('rate-limit', 'pass', { kind: 'rate-told', names, limit: limit?.replace(/\D.*/, '') });
}
