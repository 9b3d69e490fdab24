import type { InboxQuery, InboxReader, StoredDelivery } from '../../inbox/inbox.ts';
import type { Clock } from '../../time/clock.ts';
import type { WirePage } from '../wire.ts';
import { rowsOf, textsOf } from './delivery-row.ts';

interface PageQuery extends InboxQuery {
  readonly limit: number;
  /** Each of its words must be in the id, the name, the category or the reason; empty: all match. */
  readonly text: string;
}

/** One page looks through deliveries for so long at the most, in milliseconds: the next one goes on from there. */
const searchMs = 250;

/** One page of the list, newest first. */
export async function listPage(
  inbox: Pick<InboxReader, 'list' | 'forwards'>,
  { limit, text, ...query }: PageQuery,
  clock: Pick<Clock, 'steady'>,
): Promise<WirePage> {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const end = clock.steady() + searchMs;
  const found: StoredDelivery[] = [];
  let last: number | null = null;
  for await (const delivery of inbox.list(query)) {
    const isFull = found.length === limit || (words.length > 0 && last !== null && clock.steady() > end);
    if (isFull) return { rows: await rowsOf(inbox, found), next: last };
    last = delivery.seq;
    if (holdsAll(delivery, words)) found.push(delivery);
  }
  return { rows: await rowsOf(inbox, found), next: null };
}

function holdsAll(delivery: StoredDelivery, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const { name, category } = textsOf(delivery);
  const texts = [delivery.leadId, name, category, delivery.reason].map((text) => text?.toLowerCase() ?? '');
  return words.every((word) => texts.some((text) => text.includes(word)));
}
