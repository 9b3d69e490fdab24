import type { InboxQuery, InboxReader, StoredDelivery } from '../../inbox/inbox.ts';
import type { Clock } from '../../time/clock.ts';
import type { WirePage } from '../wire.ts';
import { rowsOf, nameAndCategory } from './delivery-row.ts';

interface PageQuery extends InboxQuery {
  readonly limit: number;
  /** The id, the name, the category and the reason together must contain all these words. */
  readonly text: string;
}

/** In milliseconds; the next page continues the search. */
const searchMs = 250;

export async function listPage(
  inbox: Pick<InboxReader, 'list' | 'forwards'>,
  { limit, text, ...query }: PageQuery,
  clock: Pick<Clock, 'steady'>,
): Promise<WirePage> {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const end = clock.steady() + searchMs;
  const deliveries: StoredDelivery[] = [];
  let last: number | null = null;
  for await (const delivery of inbox.list(query)) {
    const isFull = deliveries.length === limit || (words.length > 0 && last !== null && clock.steady() > end);
    if (isFull) return { rows: await rowsOf(inbox, deliveries), next: last };
    last = delivery.seq;
    if (holdsAll(delivery, words)) deliveries.push(delivery);
  }
  return { rows: await rowsOf(inbox, deliveries), next: null };
}

function holdsAll(delivery: StoredDelivery, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const { name, category } = nameAndCategory(delivery);
  const texts = [delivery.leadId, name, category, delivery.reason].map((text) => text?.toLowerCase() ?? '');
  return words.every((word) => texts.some((text) => text.includes(word)));
}
