import type { InboxReader, StoredDelivery } from '../../inbox/inbox.ts';
import { storedDelivery } from '../../receiver/stored-deliveries.ts';
import type { FilterQuery } from './query-types.ts';
import { searchInbox } from './search-inbox.ts';

/** All deliveries that a filter lets pass, and that are found where there is a text, newest first. */
export async function* filteredDeliveries(
  inbox: Pick<InboxReader, 'list' | 'search' | 'counts' | 'lackingTargets'>,
  { text, ...query }: FilterQuery,
): AsyncGenerator<StoredDelivery> {
  if (text === undefined || text === '') {
    yield* inbox.list(query);
    return;
  }
  for (let before: number | null | undefined; before !== null;) {
    const search = searchInbox(inbox, { ...query, text, before });
    before = null;
    for await (const line of search) {
      if (line.type === 'end') before = line.next;
      if (line.type !== 'found') continue;
      const delivery = await storedDelivery(inbox, line.row.seq);
      if (delivery !== undefined) yield delivery;
    }
  }
}
