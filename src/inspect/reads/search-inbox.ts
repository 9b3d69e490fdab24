import { setImmediate } from 'node:timers/promises';
import type { InboxReader } from '../../inbox/inbox.ts';
import { storedDelivery } from '../../receiver/redelivery/delivery-by-number.ts';
import type { WireFound } from '../wire.ts';
import { textFinder } from './find-text.ts';
import type { SearchQuery } from './reads.ts';
import { rowOf } from './row-of.ts';

/** Found ones, after which a search ends. */
const mostFound = 200;

/** Steps between two lines that say how far the search is. A search that nobody reads any more ends at one of them. */
const saidEvery = 10;

/** Newest first, as they are found. A caller that asks for no more ends it; between two steps other work gets its turn. */
export async function* searchInbox(
  inbox: Pick<InboxReader, 'search' | 'list'>,
  { text, ...query }: SearchQuery,
): AsyncGenerator<WireFound> {
  const find = textFinder(text);
  let [looked, steps, found] = [0, 0, 0];
  for await (const step of inbox.search(text, query)) {
    for (const candidate of step.candidates) {
      const where = find(candidate);
      const delivery = where === undefined ? undefined : await storedDelivery(inbox, candidate.seq);
      if (where === undefined || delivery === undefined) continue;
      yield { type: 'found', row: rowOf(delivery), where };
      found += 1;
      if (found === mostFound) {
        yield { type: 'end', deliveries: looked, next: candidate.seq };
        return;
      }
    }
    looked += step.looked;
    steps += 1;
    await setImmediate();
    if (steps % saidEvery === 0) yield { type: 'searched', deliveries: looked };
  }
  yield { type: 'end', deliveries: looked, next: null };
}
