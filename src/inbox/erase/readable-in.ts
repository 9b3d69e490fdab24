import { utf8 } from '../../json/bytes.ts';
import { memberIds } from './member-ids.ts';
import { normalizedEmail, normalizedPhone, type Person } from './person.ts';

/** What people write between the digits of a phone number. */
const separators = String.raw`[\s().\-/\u00a0\u2010-\u2013]*`;

/**
 * Tells whether the person is readable in a text that came from anybody, such as a rejected body, a path or a header: as
 * it is, or with the escapes of JSON, of URLs, or of both. An id is looked for as a member `id`, in quotes, and as a
 * part of a path or a form.
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

/** Whether it is there, and not as the end or the start of another address. */
function hasEmail(text: string, email: string): boolean {
  for (let at = text.indexOf(email); at !== -1; at = text.indexOf(email, at + 1)) {
    const isEnd = /(?:[\p{L}\p{N}._%+-]|[\p{L}\p{N}]')$/u.test(text.slice(Math.max(0, at - 3), at));
    const isStart = /^\.?[\p{L}\p{N}-]/u.test(text.slice(at + email.length, at + email.length + 3));
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
  text.replace(/\\(?:u([0-9a-f]{4})|([bfnrt])|([^u]))/gis, (_, code?: string, space?: string, other = '') => {
    if (code !== undefined) return String.fromCharCode(parseInt(code, 16));
    return space === undefined ? String(other) : ' ';
  });

/** A form, in which a + is a blank, has neither blanks nor quotes. */
const withoutUrlEscapes = (text: string): string =>
  (/[\s"]/.test(text) ? text : text.replaceAll('+', ' ')).replace(/(?:%[0-9a-f]{2})+/gi, (escapes) =>
    Buffer.from(escapes.replaceAll('%', ''), 'hex').toString('utf8'),
  );
