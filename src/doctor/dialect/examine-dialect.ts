import { DataError, LeadsError } from '../../errors.ts';
import { formatPointer } from '../../json/exact.ts';
import type { Service } from '../../service/client/service.ts';
import { compareWalks, mayBeCut, proveLonePage } from './compare-walks.ts';
import type { DialectFindings, Examination } from './dialect-findings.ts';
import { examineFilters } from './examine-filters.ts';
import { findLimit, readLargestPage, tooFew } from './find-limit.ts';
import { findPosition, type PositionFinding } from './find-position.ts';
import { DialectAsker, type Walked } from './limited-requests.ts';
import { findPageCap } from './page-cap.ts';
import { idFieldsOf, keysOf, orderOf, type SeenPage } from './seen-page.ts';

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
    position: await proveLonePage(asker, compared, asLearnt, filters),
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
  throw new DataError('no request was left');
}

function idOf(asker: DialectAsker, { leads }: SeenPage): DialectFindings['id'] {
  const isThere = leads.every(({ hasId }) => hasId);
  return { isThere, name: asker.dialect.id ?? 'id', candidates: isThere ? [] : idFieldsOf(leads) };
}
