import { isTestId, leadBytes } from '../lead/raw-lead.ts';
import type { InboxReader, StoredDelivery } from './inbox.ts';
import { memberIds } from './remaining-content.ts';
import { utf8 } from '../json/bytes.ts';
import { isObject, type Json, parseExact } from '../json/exact.ts';

/** Names a person whose data is looked for: by the id of a lead, or by an e-mail address or a phone number. */
export interface Person {
  readonly by: 'id' | 'email' | 'phone';
  readonly value: string;
}

/**
 * The forms in which values are compared: an e-mail address in lower case, without blanks around, and with one form of each accented
 * letter; of a phone number the digits, without the 00 that some write for the +.
 */
export const normalizedEmail = (text: string): string => text.trim().normalize('NFC').toLowerCase();
export const normalizedPhone = (text: string): string => text.replace(/\D/g, '').replace(/^00/, '');

type SearchedInbox = Pick<InboxReader, 'list' | 'lookUp' | 'prunedSince'>;

/** `deliveries` is how many of the lead are still stored. */
interface FoundLead {
  readonly leadId: string;
  readonly deliveries: number;
  readonly receivedAt: number;
  readonly isWaiting: boolean;
}

/**
 * Everything that an inbox holds of a person: leads and rejected deliveries, oldest first; the ids of other leads in which the e-mail
 * address or phone number stands outside of the contact, so that they may be of another person; and whether a lead was erased before.
 */
export interface FoundPerson {
  readonly leads: readonly FoundLead[];
  readonly rejected: readonly Pick<StoredDelivery, 'seq' | 'receivedAt' | 'reason'>[];
  readonly mentionedIn: readonly string[];
  readonly wasErased: boolean;
}

/**
 * Finds a person, who is named by the id of a lead or by an e-mail address or phone number. For these, all leads of the inbox are read:
 * those with the value within their contact are the person's, and those with it elsewhere only mention it. Changes nothing.
 */
export async function findPerson(inbox: SearchedInbox, person: Person): Promise<FoundPerson> {
  const isReadable = readableIn(person);
  const ids = new Set<string>();
  const mentions = new Set<string>();
  if (person.by === 'id') ids.add(person.value);
  else await findContacts(inbox, person, { ids, mentions });
  const isOfPerson = (rejected: StoredDelivery): boolean =>
    namedIds(rejected).some((id) => ids.has(id)) || isReadable(rejected);
  const mentionedIn = [...mentions].filter((leadId) => !ids.has(leadId));
  return { ...(await findLeads(inbox, ids)), rejected: await findRejected(inbox, isOfPerson), mentionedIn };
}

/** Finds test leads as `findPerson` finds those of a person. */
export async function findTestLeads(inbox: SearchedInbox): Promise<FoundPerson> {
  const ids = new Set<string>();
  for await (const { leadId = '', verdict } of inbox.list({})) {
    if (verdict !== 'rejected' && isTestId(leadId)) ids.add(leadId);
  }
  for await (const leads of inbox.prunedSince(0)) {
    for (const { leadId } of leads) if (isTestId(leadId)) ids.add(leadId);
  }
  const rejected = await findRejected(inbox, (delivery) => namedIds(delivery).some(isTestId));
  return { ...(await findLeads(inbox, ids)), rejected, mentionedIn: [] };
}

/** Adds the ids of leads whose contact has the value, and of leads that mention it. */
async function findContacts(
  inbox: SearchedInbox,
  person: Person,
  { ids, mentions }: { readonly ids: Set<string>; readonly mentions: Set<string> },
): Promise<void> {
  const isReadable = readableIn(person);
  let lastShared: number | undefined;
  for await (const delivery of inbox.list({})) {
    const { leadId, verdict, body, place, firstSeq } = delivery;
    if (verdict === 'rejected' || leadId === undefined) continue;
    if (firstSeq !== undefined && firstSeq !== lastShared) {
      // A body of several leads may hold one whose own delivery was pruned.
      for (const id of idsOfContact(body, person)) ids.add(id);
      lastShared = firstSeq;
    }
    if (ids.has(leadId)) continue;
    const lead = leadBytes(body, place);
    if (isContactOf(lead, person)) ids.add(leadId);
    // Path and headers of several leads belong to none of them alone.
    else if (isReadable(firstSeq === undefined ? { ...delivery, body: lead } : { body: lead })) {
      mentions.add(leadId);
    }
  }
}

/** The ids that a delivery names: its lead's, or all in a body whose lead is not known. */
const namedIds = ({ leadId, body }: StoredDelivery): readonly string[] =>
  leadId === undefined ? memberIds(body) : [leadId];

async function findRejected(
  inbox: SearchedInbox,
  isWanted: (rejected: StoredDelivery) => boolean,
): Promise<FoundPerson['rejected']> {
  const rejected: FoundPerson['rejected'][number][] = [];
  for await (const delivery of inbox.list({ verdicts: ['rejected', 'other'] })) {
    const { seq, receivedAt, reason } = delivery;
    if (isWanted(delivery)) rejected.push({ seq, receivedAt, reason });
  }
  return rejected.reverse();
}

const idsAtOnce = 1000;

async function findLeads(
  inbox: SearchedInbox,
  ids: ReadonlySet<string>,
): Promise<Pick<FoundPerson, 'leads' | 'wasErased'>> {
  const leads: FoundLead[] = [];
  let wasErased = false;
  for (let i = 0; i < ids.size; i += idsAtOnce) {
    const page = [...ids].slice(i, i + idsAtOnce);
    const received = await inbox.lookUp(page);
    for (const [n, leadId] of page.entries()) {
      const lead = received[n];
      if (lead === undefined) continue;
      const { receivedAt, isWaiting } = lead;
      if (lead.digest === undefined) wasErased = true;
      else leads.push({ leadId, deliveries: await countDeliveries(inbox, leadId), receivedAt, isWaiting });
    }
  }
  return { leads: leads.sort((a, b) => a.receivedAt - b.receivedAt), wasErased };
}

async function countDeliveries(inbox: SearchedInbox, leadId: string): Promise<number> {
  let count = 0;
  for await (const { verdict } of inbox.list({ leadId })) if (verdict !== 'rejected') count += 1;
  return count;
}

/** Whether some value within the `contact` of a lead, given by its own bytes, is the address or the number. */
function isContactOf(lead: Uint8Array, person: Person): boolean {
  const record = parsed(lead);
  return isObject(record) && hasContact(record, person);
}

/** The ids of all objects in a body of several leads that have the address or the number within their `contact`. */
function idsOfContact(body: Uint8Array, person: Person): readonly string[] {
  return [...valuesWithin(parsed(body))].flatMap((value) => {
    if (!isObject(value) || !hasContact(value, person)) return [];
    const { id } = value;
    return typeof id === 'string' || typeof id === 'number' ? [String(id)] : [];
  });
}

function hasContact({ contact }: { readonly [key: string]: Json }, { by, value }: Person): boolean {
  const normalized = by === 'email' ? normalizedEmail : normalizedPhone;
  const expected = normalized(value);
  return [...valuesWithin(contact)].some(
    (text) => (typeof text === 'string' || typeof text === 'number') && normalized(String(text)) === expected,
  );
}

/** The value and all values in it, without recursion, since JSON may be nested more deeply than calls can be. */
function* valuesWithin(value: Json | undefined): Generator<Json> {
  const queue: (readonly Json[])[] = value === undefined ? [] : [[value]];
  for (let values = queue.pop(); values !== undefined; values = queue.pop()) {
    for (const inner of values) {
      yield inner;
      if (Array.isArray(inner)) queue.push(inner as readonly Json[]);
      else if (isObject(inner)) queue.push(Object.values(inner));
    }
  }
}

function parsed(json: Uint8Array): Json | undefined {
  try {
    return parseExact(utf8(json).replace(/^\ufeff/, ''));
  } catch {
    return undefined;
  }
}

/** Matches the characters that people write between the digits of a phone number. */
const separators = String.raw`[\s().\-/\u00a0\u2010-\u2013]*`;

type DeliveryTexts = Pick<StoredDelivery, 'body'> &
  Partial<Pick<StoredDelivery, 'path' | 'headers' | 'detail'>>;

/**
 * Whether the person is readable in the body, the path, a header or the reason of a rejection: as they are, or after the escapes of JSON,
 * of URLs, or of both are removed. An id is found as a member `id`, in quotes, and as a part of a path or a form.
 */
export function readableIn(person: Person): (texts: DeliveryTexts) => boolean {
  const isIn = finderOf(person);
  const isInBytes = (bytes: Uint8Array): boolean => {
    if (person.by === 'id' && memberIds(bytes).includes(person.value)) return true;
    for (const form of formsOf(utf8(bytes))) if (isIn(form)) return true;
    return false;
  };
  return ({ body, path = '', headers = [], detail = '' }) =>
    isInBytes(body) ||
    [path, detail, ...headers.map(([, value]) => value)].some((text) => isInBytes(Buffer.from(text)));
}

function finderOf({ by, value }: Person): (text: string) => boolean {
  if (by === 'id') {
    const quoted = JSON.stringify(value);
    return (text) => text.includes(quoted) || text.split(/[/?&=#;]/).includes(value);
  }
  if (by === 'email') {
    const email = normalizedEmail(value);
    return (text) => hasEmail(text.normalize('NFC').toLowerCase(), email);
  }
  const phone = new RegExp(
    String.raw`(?<!\d)(?:00${separators})?${Array.from(normalizedPhone(value)).join(separators)}(?!\d)`,
  );
  return (text) => phone.test(text);
}

/** Whether the address is in the text by itself, and not as the end or the start of a longer address. */
function hasEmail(text: string, email: string): boolean {
  for (let start = text.indexOf(email); start !== -1; start = text.indexOf(email, start + 1)) {
    const isEnd = /(?:[\p{L}\p{N}._%+-]|[\p{L}\p{N}]')$/u.test(text.slice(Math.max(0, start - 3), start));
    const isStart = /^\.?[\p{L}\p{N}-]/u.test(text.slice(start + email.length, start + email.length + 3));
    if (!isEnd && !isStart) return true;
  }
  return false;
}

function* formsOf(text: string): Generator<string> {
  yield text;
  if (text.includes('\\')) yield withoutJsonEscapes(text);
  const decoded = withoutUrlEscapes(text);
  if (decoded === text) return;
  yield decoded;
  if (decoded.includes('\\')) yield withoutJsonEscapes(decoded);
}

const withoutJsonEscapes = (text: string): string =>
  text.replace(
    /\\(?:u([0-9a-f]{4})|([bfnrt])|([^u]))/gis,
    (_, code?: string, space?: string, letter = '') => {
      if (code !== undefined) return String.fromCharCode(parseInt(code, 16));
      return space === undefined ? String(letter) : ' ';
    },
  );

/** A text with neither blanks nor quotes may be a form (`application/x-www-form-urlencoded`), in which a + stands for a blank. */
const withoutUrlEscapes = (text: string): string =>
  (/[\s"]/.test(text) ? text : text.replaceAll('+', ' ')).replace(/(?:%[0-9a-f]{2})+/gi, (escapes) =>
    Buffer.from(escapes.replaceAll('%', ''), 'hex').toString('utf8'),
  );
