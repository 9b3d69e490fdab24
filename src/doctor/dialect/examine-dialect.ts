import { DataError, LeadsError } from '../../errors.ts';
import { formatPointer } from '../../json/exact.ts';
import type { Service } from '../../service/client/service.ts';
import type { DialectEvidence, StatusField } from '../problems.ts';
import type { DialectFindings, Examination } from './dialect-findings.ts';
import { findLimit, type Reaction, readLargestPage, tooFew } from './find-limit.ts';
import { findPosition, type PositionFinding } from './find-position.ts';
import { DialectAsker, type Walked } from './limited-requests.ts';
import { findPageCap } from './page-cap.ts';
import { idFieldsOf, keysOf, orderOf, type SeenPage } from './seen-page.ts';
import { provenUpTo } from '../../service/run-memory.ts';
import { categoryParams, statusParams, timeParams } from '../../service/pagers/names.ts';
import {
  type FilterSearch,
  findFieldFilter,
  type KnownList,
  statusFieldsOf,
  valuesOf,
} from './find-filter.ts';
import { findTimeFilter, type TimeFilterFinding } from './find-time-filter.ts';

/** Leads on each of the pages that are walked over. */
const walkedSize = 5;

/**
 * Asks the list operation at most 30 times, and tells what it does. With `isLearning` other names of parameters are
 * tried than those in force, and the style of pages is found out anew.
 */
export async function examineDialect(service: Service, isLearning: boolean): Promise<Examination> {
  const asker = new DialectAsker(service, service.dialect);
  try {
    return await examine(asker, isLearning);
  } catch (error) {
    if (service.signal.aborted || !(error instanceof LeadsError)) throw error;
    return { kind: 'failed', error, drift: asker.drift, isReached: asker.isReached };
  }
}

async function examine(asker: DialectAsker, isLearning: boolean): Promise<DialectFindings> {
  let first = await readFirst(asker, isLearning);
  const id = idOf(asker, first);
  if (isLearning && !id.isThere && id.candidates.length === 1) {
    asker.adopt({ id: id.candidates[0] });
    first = await readFirst(asker, isLearning);
  }
  const found = await findLimit(asker, first, isLearning);
  const { limit } = found;
  if (isLearning && limit.kind === 'honoured') asker.adopt({ params: { limit: limit.name } });
  if (isLearning && (limit.kind === 'filtered' || limit.kind === 'rejected'))
    asker.adopt({ params: { limit: null } });
  const reference = await readLargestPage(asker, first, limit);
  const { leads } = reference.page;
  const front = keysOf(reference.page);
  // Three pages at least: what leads to the third one shows how pages follow each other.
  const most = Math.min(walkedSize, Math.floor((front.length - 1) / 2));
  const size = limit.kind === 'honoured' && most > 0 ? most : undefined;
  const query =
    limit.kind === 'honoured' && size !== undefined
      ? { ...limit.companions, [limit.name]: String(size) }
      : {};
  // The first page may be all of the list, and a smaller one name the next.
  const isAll = first.count >= front.length;
  const small = size !== undefined && isLearning && isAll ? await asker.ask(query) : first;
  const page = small.kind === 'page' ? small : first;
  const items = formatPointer((reference.page.facts ?? first.facts)?.envelope.path ?? []);
  if (isLearning) asker.adopt({ items, pagination: 'auto', next: 'auto' });
  const asFound = await asker.walk(asker.dialect, size);
  const others = [first, reference.page];
  const search = { asker, found, front, page, query: page === small ? query : {}, size, others, asFound };
  const position: PositionFinding =
    front.length < 2
      ? { kind: 'undecided', why: tooFew(front.length), advice: 'more-leads' }
      : await findPosition(search, isLearning);
  if (isLearning && position.kind === 'found') asker.adopt(position.dialect);
  const isSame = position.kind !== 'found' && size === reference.asked;
  const asLearnt = isSame ? asFound : await asker.walk(asker.dialect, reference.asked);
  const cap = findPageCap(reference, limit, asLearnt);
  const walked = asLearnt.pages.flat();
  const list = {
    ...{ capacity: leads.length, query: reference.query, isWhole: isAtEnd(asLearnt) },
    leads: walked.length < leads.length ? leads : walked,
  };
  const filters = await examineFilters(asker, list, found.reaction, isLearning);
  const compared = compareWalks(position, front, asLearnt);
  return {
    kind: 'examined',
    requests: asker.requests,
    ...{ drift: asker.drift, isReached: true },
    ...{ items, id, limit, cap, ...filters },
    position: proveLonePage(compared, asLearnt, filters),
    count: first.count,
    order: orderOf(leads),
    rate: asker.rate,
    refusedFor: asker.refusedFor,
  };
}

/** Whether the walk brought what the service lists, be it a page of more. */
const isAtEnd = (walked: Walked): boolean => walked.completion?.kind === 'complete' || mayBeCut(walked);

/** The list without any parameter. Throws a `DataError` where that is no page. */
async function readFirst(asker: DialectAsker, isLearning: boolean): Promise<SeenPage> {
  let first = await asker.ask({});
  const isPlaced = asker.dialect.items !== undefined && asker.dialect.items !== 'auto';
  if (first.kind === 'rejected' && isLearning && isPlaced && first.status === undefined) {
    asker.adopt({ items: 'auto' });
    first = await asker.ask({});
  }
  if (first.kind === 'page') return first;
  if (first.kind === 'rejected') throw first.error;
  throw new DataError({ kind: 'requests-spent' });
}

function idOf(asker: DialectAsker, { leads }: SeenPage): DialectFindings['id'] {
  const isThere = leads.every(({ hasId }) => hasId);
  return { isThere, name: asker.dialect.id ?? 'id', candidates: isThere ? [] : idFieldsOf(leads) };
}

/** What was found of the pages, unless a walk in that dialect misses leads of the list as it was found. */
export function compareWalks(
  position: PositionFinding,
  front: readonly string[],
  { pages, completion, failure }: Walked,
): PositionFinding {
  if (position.kind !== 'found') return position;
  const brought = new Set(keysOf({ leads: pages.flat() }));
  // What lies behind the pages that were walked over was not asked for.
  const asked = completion === undefined ? front.slice(0, brought.size) : front;
  const missing = asked.filter((key) => !brought.has(key)).length;
  if (failure === undefined && missing === 0) return position;
  const why: DialectEvidence = failure ?? { kind: 'leads-missing', missing, asked: asked.length };
  const { style } = position;
  return { kind: 'undecided', why: { kind: 'learnt-walk-failed', style, why }, advice: 'repeat' };
}

/** Whether the one page of a list is all of it: the walk proves that as for an export. */
function proveLonePage(
  position: PositionFinding,
  walked: Walked,
  { status, category, since, until }: Filters,
): PositionFinding {
  if (position.kind !== 'undecided' || walked.pages.length !== 1) return position;
  const filters = { status, category, since, until };
  for (const filter of Object.values(filters)) {
    if (filter.kind === 'wrong' && filter.bringsOthers === true)
      return { ...position, why: { kind: 'list-cut', evidence: filter.evidence }, advice: 'name-parameter' };
  }
  const upTo = provenUpTo(walked.completion);
  if (upTo !== undefined) return { kind: 'alone', upTo, evidence: { kind: 'proven-up-to', count: upTo } };
  const count = walked.pages.flat().length;
  return mayBeCut(walked) && count > fewest ? { ...position, uncutUpTo: count - 1 } : position;
}

/** Fewer leads than that need no proof. */
const fewest = 5;

/** Whether the walk took one page for the end of the list, without a proof. */
const mayBeCut = ({ completion }: Walked): boolean =>
  completion?.kind === 'unproven' && completion.reason.kind === 'page-may-be-cut';

type Filters = Pick<DialectFindings, 'status' | 'category' | 'since' | 'until' | 'statusFields'>;

/** Which filters are honoured, and by which names. */
async function examineFilters(
  asker: DialectAsker,
  list: KnownList,
  reaction: Reaction | undefined,
  isLearning: boolean,
): Promise<Filters> {
  const { params, dialect } = asker;
  // A filter must not take the place of a position.
  const taken = [params.limit, params.page, params.offset, params.cursor];
  const by = (inForce: string | undefined, usual: readonly (string | undefined)[]): FilterSearch => {
    const all = isLearning ? [inForce, ...usual] : [inForce];
    const names = new Set(all.filter((name) => name !== undefined && !taken.includes(name)));
    return { asker, list, reaction, names: [...names] as string[] };
  };
  const statusFields = statusFieldsOf(
    list.leads,
    dialect.statusField === 'auto' ? undefined : dialect.statusField,
  );
  const field = fieldToFilter(statusFields)?.name;
  const status = await findFieldFilter(by(params.status, [...statusParams, field]), field, 'status');
  const category = await findFieldFilter(
    by(params.category, categoryParams),
    valuesOf(list.leads, 'category').length > 0 ? 'category' : undefined,
    'category',
  );
  const inForce = dialect.dateFormat ?? 'iso';
  const formats = isLearning ? [...new Set([inForce, 'iso', 'unix', 'unix-ms'] as const)] : [inForce];
  const sinceNames = timeParams.map(([name]) => name);
  const since = await findTimeFilter(by(params.since, sinceNames), 'since', formats);
  const found = since.kind === 'honoured' ? since : undefined;
  const findUntil = (search: FilterSearch): Promise<TimeFilterFinding> =>
    findTimeFilter(search, 'until', [found?.format ?? inForce]);
  const partner = timeParams.find(([name]) => name === found?.name)?.[1];
  const likely = { ...by(params.until, [partner]), reaction: undefined };
  const first = found === undefined ? undefined : await findUntil(likely);
  const isDone = first?.kind === 'honoured' || (first !== undefined && !isLearning);
  const untilNames = timeParams.map(([, name]) => name);
  const until = isDone ? first : await findUntil(by(params.until, untilNames));
  return { status, category, since, until, statusFields };
}

/** Of several fields, the first one by which leads differ. */
const fieldToFilter = (fields: readonly StatusField[]): StatusField | undefined =>
  fields.find(({ values }) => values.length > 1) ?? fields[0];
