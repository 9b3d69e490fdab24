import { isObject, type Json } from '../json/exact.ts';

/** Members that only a lead has, or by which services name one. */
const leadName = /^(?:category|contact|lead|leads)$|^lead(?:gen)?[_-]?id$/i;
const email = /^[^\s@<>]@[^\s@<>]+\.[a-z]{2}/i;
/** A host name is not longer (RFC 1035). */
const longestHost = 255;
const phoneName = /phone|mobile|whatsapp|^tel$/i;
const phone = /^\+?\(?\d[\d\s().-]{5,}\d$/;

/**
 * Whether a body holds what may be a lead: a field or an id of one, an e-mail address or a phone number, however deep it is. Such
 * a body is never filed as another event, where nobody would find the person.
 */
export function holdsPerson(body: Json): boolean {
  const open: Json[] = [body];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === 'string' && (holdsEmail(value) || isInternational(value))) return true;
    if (typeof value !== 'object' || value === null) continue;
    if (isObject(value) && Object.entries(value).some(isOfPerson)) return true;
    // One by one: what is spread into arguments may be too much for the stack.
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
  for (let at = text.indexOf('@', 1); at > 0; at = text.indexOf('@', at + 1)) {
    if (email.test(text.slice(at - 1, at + longestHost))) return true;
  }
  return false;
}

const isInternational = (text: string): boolean =>
  text.length < 40 && text.startsWith('+') && phone.test(text);
