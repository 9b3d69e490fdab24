import type { InboxReader, StoredDelivery, StoredResult } from '../../inbox/inbox.ts';
import { leadBytes } from '../../lead/raw-lead.ts';
import { utf8 } from '../../json/bytes.ts';
import { isObject, type Json, jsonIn } from '../../json/exact.ts';
import { fieldsOf } from '../../json/resource.ts';
import { replayHeader } from '../../receiver/targets/forward-request.ts';
import type { WireRow } from '../wire.ts';

/** In characters, of a text in the list. */
const longestText = 200;

/** A larger lead is not parsed for the list, in bytes. */
const largestParsed = 256 * 1024;

export async function rowOf(
  inbox: Pick<InboxReader, 'lackingTargets'>,
  delivery: StoredDelivery,
): Promise<WireRow> {
  const { seq, receivedAt, leadId = null, verdict, reason = null, status, attempt, results, body } = delivery;
  const lead = leadIn(delivery);
  const contact = lead?.['contact'];
  // Its target may have had the lead with a later delivery.
  const isPending = verdict === 'pending' && leadId !== null;
  const isLacking = isPending && (await inbox.lackingTargets(leadId)).length > 0;
  return {
    seq,
    receivedAt,
    leadId,
    name: shortText(isObject(contact) ? contact['name'] : undefined),
    category: shortText(lead?.['category']),
    verdict,
    reason,
    status,
    attempt,
    source: sourceOf(delivery),
    size: body.length,
    ...handedOn(results, isLacking),
  };
}

/** `isLacking`: a target has not had the lead that it is meant for; a replay means it for nobody. */
function handedOn(
  results: StoredDelivery['results'],
  isLacking: boolean,
): Pick<WireRow, 'delivered' | 'failed'> {
  const nameOf = ({ target, address = '' }: StoredResult): string => `${target} ${address}`;
  const took = new Set(results.filter(({ ok }) => ok).map(nameOf));
  const meant = new Set(results.filter(({ kind }) => kind !== 'replay').map(nameOf));
  const failed = isLacking ? [...meant].filter((name) => !took.has(name)).length : 0;
  return { delivered: took.size, failed };
}

/** The lead as a value whose numbers are not exact; undefined where the body is no JSON object, or is large. */
export function leadIn({
  body,
  place,
}: Pick<StoredDelivery, 'body' | 'place'>): Readonly<Record<string, Json>> | undefined {
  const bytes = leadBytes(body, place);
  if (bytes.length === 0 || bytes.length > largestParsed) return undefined;
  const lead = jsonIn(utf8(bytes).replace(/^\ufeff/, ''));
  return isObject(lead) ? fieldsOf(lead) : undefined;
}

/** Anybody may send the header of a replay: it says where a delivery came from, and proves nothing. */
function sourceOf({ source, headers }: StoredDelivery): WireRow['source'] {
  const isReplay = source === 'push' && headers.some(([name]) => name.toLowerCase() === replayHeader);
  return isReplay ? 'replay' : source;
}

const shortText = (value: Json | undefined): string | null =>
  typeof value !== 'string' ? null : value.length > longestText ? value.slice(0, longestText) : value;
