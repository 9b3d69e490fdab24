import type { Forward, InboxQuery, InboxReader, StoredDelivery } from '../../inbox/inbox.ts';
import { utf8 } from '../../json/bytes.ts';
import { isObject, type Json, jsonIn } from '../../json/exact.ts';
import { fieldsOf } from '../../json/resource.ts';
import { leadBytes } from '../../lead/raw-lead.ts';
import { replayHeader } from '../../receiver/targets/forward.ts';
import type { Clock } from '../../time/clock.ts';
import type { WirePage, WireRow } from '../wire.ts';

interface PageQuery extends InboxQuery {
  readonly limit: number;
  /** The id, the name, the category and the reason together must contain all these words. */
  readonly text: string;
}

/** A search that takes longer gives the rows that it has, even none, and is continued by the next page. */
const searchMs = 250;

export async function listPage(
  inbox: Pick<InboxReader, 'list' | 'forwards'>,
  { limit, text, ...query }: PageQuery,
  clock: Pick<Clock, 'steady'>,
): Promise<WirePage> {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const searchEnd = clock.steady() + searchMs;
  const deliveries: StoredDelivery[] = [];
  let lastSeq: number | null = null;
  for await (const delivery of inbox.list(query)) {
    const isSearchLong = words.length > 0 && lastSeq !== null && clock.steady() > searchEnd;
    if (deliveries.length === limit || isSearchLong)
      return { rows: await rowsOf(inbox, deliveries), next: lastSeq };
    lastSeq = delivery.seq;
    if (matchesWords(delivery, words)) deliveries.push(delivery);
  }
  return { rows: await rowsOf(inbox, deliveries), next: null };
}

function matchesWords(delivery: StoredDelivery, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const { name, category } = nameAndCategory(delivery);
  const texts = [delivery.leadId, name, category, delivery.reason].map((text) => text?.toLowerCase() ?? '');
  return words.every((word) => texts.some((text) => text.includes(word)));
}

const maxTextLength = 200;

/** The name and the category of a larger lead are not shown: a page of rows must not parse more. */
const mostParsedBytes = 256 * 1024;

export async function rowsOf(
  inbox: Pick<InboxReader, 'forwards'>,
  deliveries: readonly StoredDelivery[],
): Promise<WireRow[]> {
  const accepted = deliveries.filter(({ verdict }) => verdict === 'accepted');
  const forwards = await inbox.forwards(accepted.flatMap(({ leadId }) => leadId ?? []));
  return deliveries.map((delivery) => rowOf(delivery, forwards.get(delivery.leadId ?? '') ?? []));
}

/** Only the first delivery of a lead counts its forwards. */
export function rowOf(delivery: StoredDelivery, forwards: readonly Forward[]): WireRow {
  const { seq, receivedAt, leadId = null, verdict, reason = null, status, attempt, body } = delivery;
  const { name, category } = nameAndCategory(delivery);
  const countOf = (state: Forward['state']): number =>
    verdict === 'accepted' ? forwards.filter((forward) => forward.state === state).length : 0;
  return {
    ...{ seq, receivedAt, leadId, name, category, verdict, reason, status, attempt },
    source: sourceOf(delivery),
    size: body.length,
    done: countOf('done'),
    waiting: countOf('waiting'),
    dead: countOf('dead'),
  };
}

function nameAndCategory(
  delivery: Pick<StoredDelivery, 'body' | 'place'>,
): Pick<WireRow, 'name' | 'category'> {
  const bytes = leadBytes(delivery.body, delivery.place);
  const isParsed = bytes.length > 0 && bytes.length <= mostParsedBytes;
  const json = isParsed ? jsonIn(utf8(bytes).replace(/^\ufeff/, '')) : undefined;
  const lead = isObject(json) ? fieldsOf(json) : {};
  const { contact, category } = lead;
  return { name: shortText(isObject(contact) ? contact['name'] : undefined), category: shortText(category) };
}

/** Anybody may send the header of a replay: it is shown, and proves nothing. */
function sourceOf({ source, headers }: StoredDelivery): WireRow['source'] {
  const isReplay = source === 'push' && headers.some(([name]) => name.toLowerCase() === replayHeader);
  return isReplay ? 'replay' : source;
}

const shortText = (value: Json | undefined): string | null =>
  typeof value === 'string' ? value.slice(0, maxTextLength) : null;
