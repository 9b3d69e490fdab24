import { isObject, type Json } from '../json/exact.ts';

/** Members that only a lead has, or by which services name one. */
const leadName = /^(?:category|contact|lead|leads)$|^lead(?:gen)?[_-]?id$/i;
const email = /^[^\s@<>]@[^\s@<>]+\.[a-z]{2}/i;
/** A host name is not longer (RFC 1035). */
const longestHost = 255;
const phoneName = /phone|mobile|whatsapp|^tel$/i;
const phone = /^\+?\(?\d[\d\s().-]{5,}\d$/;

/**
 * Tells whether a body holds a field or an id of a lead, an e-mail address or a phone number, however deep it is. Such a body is
 * never filed as another event, where nobody would find the person.
 */
export function holdsPerson(body: Json): boolean {
  const open: Json[] = [body];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === 'string' && (holdsEmail(value) || isInternational(value))) return true;
    if (typeof value !== 'object' || value === null) continue;
    if (isObject(value) && Object.entries(value).some(isOfPerson)) return true;
    // A push of all members at once would exceed the stack where there are hundreds of thousands.
    for (const inner of Object.values(value) as readonly Json[]) open.push(inner);
  }
  return false;
}

const isOfPerson = ([name, value]: readonly [string, Json]): boolean =>
  value !== null &&
  (leadName.test(name) ||
    (phoneName.test(name) &&
      (typeof value === 'string' || typeof value === 'number') &&
      phone.test(`${value}`)));

/** Looks behind each `@` alone: a pattern that searches takes quadratic time on a long text. */
function holdsEmail(text: string): boolean {
  for (let sign = text.indexOf('@', 1); sign > 0; sign = text.indexOf('@', sign + 1)) {
    if (email.test(text.slice(sign - 1, sign + longestHost))) return true;
  }
  return false;
}

const isInternational = (text: string): boolean =>
  text.length < 40 && text.startsWith('+') && phone.test(text);
