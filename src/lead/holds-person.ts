import { isObject, type Json, jsonIn } from '../json/exact.ts';
import { isEventName, kindIn, leadWord, wordsOf } from './change-notices.ts';

const leadName = /^(?:contacts?|leads?)$/;
const idWord = /^(?:ids?|uuids?|guids?|keys?|refs?|number)$/;

const email = /^[^\s@<>]@[^\s@<>]+\.\p{L}{2}/u;
const longestHost = 255;

/** A word of a name such as `caller_number` or of a label such as `PHONE_NUMBER`. */
const phoneWord = /phone|mobile|whatsapp|^(?:tel|telefono?|cell|msisdn|fax|caller|callee|sms)$/;
const phone = /^\+?\(?\d[\d\s()./-]{5,}\d(?:\s*(?:x|ext\.?)\s*\d+)?$/i;
const isoDate = /^\d{4}-\d\d-\d\d/;
/**
 * Phone numbers inside a text: with a country, with an area as in `(650) 555-0123`, or after a word for a
 * phone.
 */
const phonesInText = [
  /(?<![\w.])\+\(?\d(?:[\s().-]{0,2}\d){6,14}(?!\d)/,
  /(?<![\d-])(?:\(\d{3}\)\s?|\d{3}[-. ])\d{3}[-. ]\d{4}(?![\d-])/,
  /(?:phone|mobile|whatsapp|\btel|\bsms|callto)\W{1,5}\(?\d(?:[\s().-]{0,2}\d){6,14}(?!\d)/i,
  /^00[1-9](?:\s?\d){8,14}$/,
];
const longestLabel = 60;

const jsonStart = /^\s*[{[]/;
const base64Start = /^(?:e[wy]|W[wy3])/;

/**
 * Tells whether a body holds a field or an id of a lead, an e-mail address or a phone number at any depth,
 * also in texts that are JSON, as queues deliver it. Such a body is never stored as another event, where the
 * person would be lost. `isNamedOther` is true where a header names another kind of object, which may have a
 * category too.
 */
export function holdsPerson(body: Json, isNamedOther = false): boolean {
  const open: Json[] = [body];
  let hasCategory = false;
  let isOfOtherKind = isNamedOther;
  let hasId = false;
  let tellsOfLead = false;
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === 'string') {
      if (holdsEmail(value) || phonesInText.some((pattern) => pattern.test(value))) return true;
      const inner = jsonInText(value);
      if (inner !== undefined) open.push(inner);
    }
    if (typeof value !== 'object' || value === null) continue;
    if (isObject(value)) {
      const members = Object.entries(value);
      if (members.some(isOfPerson) || holdsLabelledPhone(Object.values(value))) return true;
      const ownsCategory = (value['category'] ?? null) !== null;
      hasCategory ||= ownsCategory;
      isOfOtherKind ||= kindIn(value, !ownsCategory)?.isLead === false;
      hasId ||= members.some(isId);
      tellsOfLead ||= members.some(isEventOfLead);
      if (hasId && tellsOfLead) return true;
    }
    // Pushing hundreds of thousands of members at once would exceed the stack.
    for (const inner of Object.values(value) as readonly Json[]) open.push(inner);
  }
  // Products have a category too.
  return hasCategory && !isOfOtherKind;
}

type Entry = readonly [name: string, value: Json];

function isOfPerson([name, value]: Entry): boolean {
  if (value === null) return false;
  if (leadName.test(name) || holdsEmail(name)) return true;
  const words = wordsOf(name);
  const isLeadId = words.some((word) => leadWord.test(word)) && idWord.test(words.at(-1) ?? '');
  return isLeadId || (isPhoneLabel(name) && holdsPhone(value));
}

const isId = ([name, value]: Entry): boolean =>
  (typeof value === 'string' || typeof value === 'number' || Array.isArray(value)) &&
  idWord.test(wordsOf(name).at(-1) ?? '');

/** A notice such as `lead.created` holds the id of a lead under any name. */
const isEventOfLead = ([name, value]: Entry): boolean =>
  typeof value === 'string' &&
  value.length <= longestLabel &&
  (name === 'type' || isEventName(name)) &&
  wordsOf(value).some((word) => leadWord.test(word));

/**
 * Forms send answers as objects with a label, such as `{"name": "phone_number", "values": ["650 555 0123"]}`.
 */
const holdsLabelledPhone = (values: readonly Json[]): boolean =>
  values.some(isPhoneLabel) && values.some((value) => typeof value !== 'number' && holdsPhone(value));

const isPhoneLabel = (value: Json): boolean =>
  typeof value === 'string' &&
  value.length <= longestLabel &&
  wordsOf(value).some((word) => phoneWord.test(word));

const holdsPhone = (value: Json): boolean =>
  (Array.isArray(value) ? (value as readonly Json[]) : [value]).some(isPhone);

function isPhone(value: Json): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false;
  const text = `${value}`;
  return text.length <= longestLabel && phone.test(text) && !isoDate.test(text);
}

/** A pattern that searches takes quadratic time on a long text, so this looks only around each `@`. */
function holdsEmail(text: string): boolean {
  const plain = text.includes('%40') ? text.replaceAll('%40', '@') : text;
  for (let sign = plain.indexOf('@', 1); sign > 0; sign = plain.indexOf('@', sign + 1)) {
    if (email.test(plain.slice(sign - 1, sign + longestHost))) return true;
  }
  return false;
}

function jsonInText(text: string): Json | undefined {
  if (jsonStart.test(text)) return jsonIn(text);
  return base64Start.test(text) ? jsonIn(Buffer.from(text, 'base64').toString()) : undefined;
}
