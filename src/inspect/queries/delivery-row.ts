import type { Forward, InboxReader, StoredDelivery } from '../../inbox/inbox.ts';
import { utf8 } from '../../json/bytes.ts';
import { isObject, type Json, jsonIn } from '../../json/exact.ts';
import { fieldsOf } from '../../json/resource.ts';
import { leadBytes } from '../../lead/raw-lead.ts';
import { replayHeader } from '../../receiver/targets/forward-request.ts';
import type { WireRow } from '../wire.ts';

const maxTextLength = 200;

/** In bytes; a larger lead is not parsed for the list. */
const largestParsed = 256 * 1024;

export async function rowsOf(
  inbox: Pick<InboxReader, 'forwards'>,
  deliveries: readonly StoredDelivery[],
): Promise<WireRow[]> {
  const accepted = deliveries.filter(({ verdict }) => verdict === 'accepted');
  const forwards = await inbox.forwards(accepted.flatMap(({ leadId }) => leadId ?? []));
  return deliveries.map((delivery) => {
    const isFirst = delivery.verdict === 'accepted';
    return rowOf(delivery, isFirst ? (forwards.get(delivery.leadId ?? '') ?? []) : []);
  });
}

function rowOf(delivery: StoredDelivery, forwards: readonly Forward[]): WireRow {
  const { seq, receivedAt, leadId = null, verdict, reason = null, status, attempt, body } = delivery;
  const { name, category } = nameAndCategory(delivery);
  const countOf = (state: Forward['state']): number =>
    forwards.filter((forward) => forward.state === state).length;
  return {
    ...{ seq, receivedAt, leadId, name, category, verdict, reason, status, attempt },
    source: sourceOf(delivery),
    size: body.length,
    done: countOf('done'),
    waiting: countOf('waiting'),
    dead: countOf('dead'),
  };
}

export function nameAndCategory(
  delivery: Pick<StoredDelivery, 'body' | 'place'>,
): Pick<WireRow, 'name' | 'category'> {
  const bytes = leadBytes(delivery.body, delivery.place);
  const isParsed = bytes.length > 0 && bytes.length <= largestParsed;
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
