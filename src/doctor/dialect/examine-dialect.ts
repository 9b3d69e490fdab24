import { LeadsError, DataError } from '../../errors.ts';
import { formatPointer } from '../../json/exact.ts';
import type { Service } from '../../service/client/service.ts';
import { DialectAsker } from './limited-requests.ts';
import type { DialectFindings, Examination } from './dialect-findings.ts';
import { examineFilters } from './examine-filters.ts';
import { findLimit, readLargestPage, tooFew } from './find-limit.ts';
import { findPosition, type PositionFinding, tryPosition } from './find-position.ts';
import { idFieldsOf, keysOf, orderOf, type SeenPage } from './seen-page.ts';
import { findPageCap } from './page-cap.ts';
import type { PositionSearch } from './position-names.ts';

/** Leads on each of the two pages that are walked over. */
const walkedSize = 5;

/**
 * Asks the list operation at most 25 times, and tells what it does. With `isLearning` other names of parameters are
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
  const front = keysOf(reference.page);
  const search: PositionSearch = { asker, found, front, page: first, query: {}, size: undefined, others: [] };
  const size = Math.min(walkedSize, Math.floor(front.length / 2));
  const isSized = limit.kind === 'honoured' && size > 0;
  const small = isSized ? { ...limit.companions, [limit.name]: String(size) } : {};
  const page = isSized && isLearning ? await asker.ask(small) : first;
  const items = formatPointer(
    ((page.kind === 'page' ? page : first).facts ?? first.facts)?.envelope.path ?? [],
  );
  if (isLearning) asker.adopt({ items });
  const position: PositionFinding =
    front.length < 2
      ? { kind: 'undecided', why: tooFew(front.length), advice: 'more-leads' }
      : isLearning
        ? await findPosition(
            isSized && page.kind === 'page'
              ? { ...search, page, query: small, size, others: [first, reference.page] }
              : search,
          )
        : await tryPosition(asker, front, isSized ? size : undefined);
  if (isLearning && position.kind === 'found') asker.adopt(position.dialect);
  const cap = await findPageCap(asker, reference, first, limit, position);
  const filters = await examineFilters(asker, { reaction: found.reaction, reference, position, isLearning });
  return {
    kind: 'examined',
    requests: asker.requests,
    ...{ drift: asker.drift, isReached: true },
    ...{ items, id, limit, position, cap, ...filters },
    count: first.count,
    order: orderOf(reference.page.leads),
    rate: asker.rate,
    refusedFor: asker.refusedFor,
  };
}

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
