import { utf8 } from '../../json/bytes.ts';
import { isObject, type Json, parseExact } from '../../json/exact.ts';
import { memberIds } from '../remaining-content.ts';

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

/** Whether some value within the `contact` of a lead, given by its own bytes, is the address or the number. */
export function isContactOf(lead: Uint8Array, person: Person): boolean {
  const record = parsed(lead);
  return isObject(record) && hasContact(record, person);
}

/** The ids of all objects in a body of several leads that have the address or the number within their `contact`. */
export function idsOfContact(body: Uint8Array, person: Person): readonly string[] {
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

/**
 * Whether the person is readable in bytes of any form, such as a rejected body, a path or a header: as they are, or after the escapes of
 * JSON, of URLs, or of both are removed. An id is found as a member `id`, in quotes, and as a part of a path or a form.
 */
export function readableIn(person: Person): (bytes: Uint8Array) => boolean {
  const isIn = finderOf(person);
  return (bytes) => {
    if (person.by === 'id' && memberIds(bytes).includes(person.value)) return true;
    for (const form of formsOf(utf8(bytes))) if (isIn(form)) return true;
    return false;
  };
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
