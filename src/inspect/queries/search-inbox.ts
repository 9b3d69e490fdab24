import { setImmediate } from 'node:timers/promises';
import { normalizedEmail, normalizedPhone } from '../../inbox/erase/person.ts';
import type { InboxReader } from '../../inbox/inbox.ts';
import { leadBytes } from '../../lead/raw-lead.ts';
import type { Candidate, SearchTerm } from '../../inbox/query-types.ts';
import { mayBePhone } from '../../inbox/search-terms.ts';
import { decodeEscapes, utf8 } from '../../json/bytes.ts';
import { isObject, type Json } from '../../json/exact.ts';
import { storedDelivery } from '../../receiver/stored-deliveries.ts';
import { parseInstant } from '../../time/time-text.ts';
import { searchWords, type WireFound } from '../wire.ts';
import type { SearchQuery } from './query-types.ts';
import { leadIn, rowOf } from './delivery-row.ts';

/** Found ones, after which a search ends. */
const mostFound = 200;

/** More are not looked for. */
const mostWords = 20;

/** Steps between two lines that say how far the search is. A search that nobody reads any more ends at one of them. */
const saidEvery = 10;

/** Newest first, as they are found. A caller that asks for no more ends it; between two steps other work gets its turn. */
export async function* searchInbox(
  inbox: Pick<InboxReader, 'search' | 'list' | 'counts' | 'lackingTargets'>,
  { text, now = Date.now(), ...filter }: SearchQuery,
): AsyncGenerator<WireFound> {
  const { terms, since } = termsOf(text, now);
  const query = { ...filter, since: since === undefined ? filter.since : Math.max(since, filter.since ?? 0) };
  const finders = terms.map(termFinder);
  let [looked, steps, found] = [0, 0, 0];
  let total: number | null = null;
  // Of a search of what arrived just now nobody needs it.
  const counting =
    query.after === undefined ? countStored(inbox).then((count) => void (total = count), ignored) : undefined;
  for await (const step of inbox.search(terms, query)) {
    for (const candidate of step.candidates) {
      const places = finders.map((find) => find(candidate));
      const delivery = places.includes(undefined) ? undefined : await storedDelivery(inbox, candidate.seq);
      if (delivery === undefined) continue;
      const [where = 'time'] = places;
      yield { type: 'found', row: await rowOf(inbox, delivery), where };
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

/** The words of a search, and since when. A time that is none is a word. */
function termsOf(text: string, now: number): { terms: readonly SearchTerm[]; since: number | undefined } {
  const terms: SearchTerm[] = [];
  let since: number | undefined;
  for (const { field, text: word } of searchWords(text).slice(0, mostWords)) {
    const at = field === 'since' ? parseInstant(word, now) : undefined;
    if (at !== undefined) since = Math.max(at, since ?? 0);
    else if (field === 'since') terms.push({ field: 'any', text: `since:${word}` });
    else terms.push({ field, text: word });
  }
  return { terms, since };
}

/**
 * Where a delivery holds a word, letters of any case, in the body as it came and with the escapes of JSON decoded. A text that
 * may be a phone number is found however its digits are grouped.
 */
function termFinder({ field, text }: SearchTerm): (delivery: Candidate) => string | undefined {
  const wanted = text.toLowerCase();
  const digits = mayBePhone(text) ? normalizedPhone(text) : undefined;
  const holds = (value: string | undefined): boolean => value?.toLowerCase().includes(wanted) === true;
  const hasPhone = (value: string): boolean =>
    digits !== undefined && phonesIn(value).some((phone) => phone.includes(digits));
  const fieldOf = (delivery: Candidate): string | undefined => {
    const contact = leadIn(delivery)?.['contact'];
    if (!isObject(contact)) return undefined;
    const value = (name: string): string => textOf(contact[name]);
    if (holds(value('name'))) return 'name';
    if (normalizedEmail(value('email')).includes(wanted)) return 'email';
    return holds(value('phone')) || hasPhone(value('phone')) ? 'phone' : undefined;
  };
  const contentOf = (delivery: Candidate): string | undefined => {
    const { leadId, body, place } = delivery;
    if (holds(leadId)) return 'id';
    // Other leads of the same request are deliveries of their own.
    const raw = utf8(leadBytes(body, place));
    const isHeld = holds(raw) || (raw.includes('\\') && holds(decodeEscapes(raw))) || hasPhone(raw);
    return isHeld ? (fieldOf(delivery) ?? 'body') : undefined;
  };
  const isReason = ({ reason, detail }: Candidate): boolean => holds(reason) || holds(detail);
  const isStatus = ({ status }: Candidate): boolean => String(status) === wanted;
  const isTarget = ({ results }: Candidate): boolean =>
    results.some(({ target, address, answer }) => holds(target) || holds(address) || holds(answer));
  if (field === 'reason') return (delivery) => (isReason(delivery) ? 'reason' : undefined);
  if (field === 'status') return (delivery) => (isStatus(delivery) ? 'status' : undefined);
  if (field === 'target') return (delivery) => (isTarget(delivery) ? 'target' : undefined);
  return (delivery) => {
    const content = contentOf(delivery);
    if (content !== undefined) return content;
    if (isReason(delivery)) return 'reason';
    if (isStatus(delivery)) return 'status';
    if (delivery.headers.some((header) => header.some(holds) || holds(header.join(': ')))) return 'header';
    if (isTarget(delivery)) return 'target';
    return holds(delivery.remote) || holds(delivery.path) ? 'address' : undefined;
  };
}

const phonesIn = (text: string): readonly string[] =>
  Array.from(text.matchAll(/\d[\d\s().\-/\u00a0\u2010-\u2013]{2,}\d/g), ([phone]) => normalizedPhone(phone));

const textOf = (value: Json | undefined): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';
