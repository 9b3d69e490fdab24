import { setImmediate } from 'node:timers/promises';
import { normalizedEmail, normalizedPhone } from '../../inbox/erase/person.ts';
import type { Candidate } from '../../inbox/query-types.ts';
import type { InboxReader } from '../../inbox/inbox.ts';
import { leadBytes } from '../../inbox/lead-bytes.ts';
import { mayBePhone } from '../../inbox/search-terms.ts';
import { decodeEscapes, utf8 } from '../../json/bytes.ts';
import { isObject, type Json } from '../../json/exact.ts';
import { storedDelivery } from '../../receiver/stored-deliveries.ts';
import type { WireFound } from '../wire.ts';
import type { SearchQuery } from './query-types.ts';
import { leadIn, rowOf } from './delivery-row.ts';

/** Found ones, after which a search ends. */
const mostFound = 200;

/** Steps between two lines that say how far the search is. A search that nobody reads any more ends at one of them. */
const saidEvery = 10;

/** Newest first, as they are found. A caller that asks for no more ends it; between two steps other work gets its turn. */
export async function* searchInbox(
  inbox: Pick<InboxReader, 'search' | 'list' | 'counts'>,
  { text, ...query }: SearchQuery,
): AsyncGenerator<WireFound> {
  const find = textFinder(text);
  let [looked, steps, found] = [0, 0, 0];
  let total: number | null = null;
  // Of a search of what arrived just now nobody needs it.
  const counting =
    query.after === undefined ? countStored(inbox).then((count) => void (total = count), ignored) : undefined;
  for await (const step of inbox.search(text, query)) {
    for (const candidate of step.candidates) {
      const where = find(candidate);
      const delivery = where === undefined ? undefined : await storedDelivery(inbox, candidate.seq);
      if (where === undefined || delivery === undefined) continue;
      yield { type: 'found', row: rowOf(delivery), where };
      found += 1;
      if (found === mostFound) {
        // Its step is counted when it ends, and what was found was looked at.
        yield { type: 'end', deliveries: Math.max(looked, found), total, next: candidate.seq };
        return;
      }
    }
    looked += step.looked;
    steps += 1;
    await setImmediate();
    if (steps % saidEvery === 0) yield { type: 'searched', deliveries: looked, total };
  }
  await counting;
  yield { type: 'end', deliveries: looked, total, next: null };
}

/** Where it cannot be counted, the search itself says why. */
const ignored = (): undefined => undefined;

async function countStored(inbox: Pick<InboxReader, 'counts'>): Promise<number> {
  let stored = 0;
  const all = { since: 0, until: Number.MAX_SAFE_INTEGER, partMs: Number.MAX_SAFE_INTEGER };
  for await (const step of inbox.counts(all)) {
    for (const { count, isRemoved } of step) if (!isRemoved) stored += count;
    await setImmediate();
  }
  return stored;
}

/** Where a text was found: in the id, a field of the contact, or elsewhere in the body. */
type FoundIn = 'id' | 'name' | 'email' | 'phone' | 'body';

/**
 * Looks for a text in a delivery, letters of any case, in the body as it came and with the escapes of JSON decoded. A text
 * that may be a phone number is found however its digits are grouped.
 */
function textFinder(text: string): (delivery: Candidate) => FoundIn | undefined {
  const wanted = text.toLowerCase();
  const digits = mayBePhone(text) ? normalizedPhone(text) : undefined;
  const holds = (value: string): boolean => value.toLowerCase().includes(wanted);
  const hasPhone = (value: string): boolean =>
    digits !== undefined && phonesIn(value).some((phone) => phone.includes(digits));
  const fieldOf = (delivery: Candidate): FoundIn | undefined => {
    const contact = leadIn(delivery)?.['contact'];
    if (!isObject(contact)) return undefined;
    const field = (name: string): string => textOf(contact[name]);
    if (holds(field('name'))) return 'name';
    if (normalizedEmail(field('email')).includes(wanted)) return 'email';
    return holds(field('phone')) || hasPhone(field('phone')) ? 'phone' : undefined;
  };
  return (delivery) => {
    const { leadId, body, place } = delivery;
    if (leadId !== undefined && holds(leadId)) return 'id';
    // Other leads of the same request are deliveries of their own.
    const raw = utf8(leadBytes(body, place));
    const isHeld = holds(raw) || (raw.includes('\\') && holds(decodeEscapes(raw))) || hasPhone(raw);
    return isHeld ? (fieldOf(delivery) ?? 'body') : undefined;
  };
}

const phonesIn = (text: string): readonly string[] =>
  Array.from(text.matchAll(/\d[\d\s().\-/\u00a0\u2010-\u2013]{2,}\d/g), ([phone]) => normalizedPhone(phone));

const textOf = (value: Json | undefined): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';
