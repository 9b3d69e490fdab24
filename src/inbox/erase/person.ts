import { isObject, type Json } from '../../json/exact.ts';
import { idsInBody } from './ids-in-body.ts';

/** Whose data is looked for: a lead by its id, or every lead with an e-mail address or a phone number. */
export interface Person {
  readonly by: 'id' | 'email' | 'phone';
  readonly value: string;
}

/** Upper and lower case are one; blanks around it are none of it. */
export const normalizedEmail = (text: string): string => text.trim().toLowerCase();

/** The digits, without the 00 that stands for a +. */
export const normalizedPhone = (text: string): string => text.replace(/\D/g, '').replace(/^00/, '');

/** Whether some value within the `contact` of a lead is the address or the number. `lead`: its own bytes. */
export function isContactOf(lead: Uint8Array, { by, value }: Person): boolean {
  const record = parsed(lead);
  if (!isObject(record)) return false;
  const normalized = by === 'email' ? normalizedEmail : normalizedPhone;
  const wanted = normalized(value);
  return valuesIn(record['contact']).some((text) => normalized(text) === wanted);
}

/**
 * Whether the value is readable in a text that came from anybody, such as a rejected body, a path or a header: as it is, or
 * with the escapes of JSON or of URLs. An id is looked for as a lead's own, or in quotes.
 */
export function isReadableIn(bytes: Uint8Array, person: Person): boolean {
  const text = Buffer.from(bytes).toString('utf8');
  if (person.by === 'id' && idsInBody(bytes, 'auto').includes(person.value)) return true;
  return [text, withoutJsonEscapes(text), withoutUrlEscapes(text)].some((form) => isIn(form, person));
}

function isIn(text: string, { by, value }: Person): boolean {
  if (by === 'id') return text.includes(JSON.stringify(value));
  if (by === 'email') return emailsIn(text).includes(normalizedEmail(value));
  return phonesIn(text).includes(normalizedPhone(value));
}

const emailsIn = (text: string): readonly string[] =>
  Array.from(text.matchAll(/[^\s"'<>(),:;=&?[\]{}\\/@]+@[^\s"'<>(),:;=&?[\]{}\\/@]+/g), ([email]) =>
    normalizedEmail(email.replace(/\.+$/, '')),
  );

export const phonesIn = (text: string): readonly string[] =>
  Array.from(text.matchAll(/\d[\d\s().\-/\u00a0\u2010-\u2013]{2,}\d/g), ([phone]) => normalizedPhone(phone));

const withoutJsonEscapes = (text: string): string =>
  text
    .replace(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)))
    .replaceAll('\\/', '/');

const withoutUrlEscapes = (text: string): string =>
  Buffer.from(
    text
      .replaceAll('+', ' ')
      .replace(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16))),
    'latin1',
  ).toString('utf8');

/** Every text and number within a value. */
function valuesIn(value: Json | undefined): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number') return [String(value)];
  if (Array.isArray(value)) return value.flatMap((item: Json) => valuesIn(item));
  return isObject(value) ? Object.values(value).flatMap(valuesIn) : [];
}

/** Numbers need not be exact: no phone number has more digits than a double holds. */
function parsed(lead: Uint8Array): Json | undefined {
  try {
    return JSON.parse(Buffer.from(lead).toString('utf8')) as Json;
  } catch {
    return undefined;
  }
}
