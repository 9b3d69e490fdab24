import { isObject, type Json, jsonIn } from '../json/exact.ts';
import { isEventName, kindIn, leadWord, wordsOf } from './change-notices.ts';

const leadName = /^(?:contacts?|leads?)$/i;
const idWord = /^(?:ids?|uuids?|guids?|keys?|refs?|number)$/;

const email = /^[^\s@<>]@[^\s@<>]+\.\p{L}{2}/u;
const longestHost = 255;

/** A word of a name such as `caller_number` or of a label such as `PHONE_NUMBER`. */
const phoneWord = /phone|mobile|whatsapp|^(?:tel|telefono?|cell|msisdn|fax|caller|callee|sms)$/;
const phone = /^\+?\(?\d[\d\s()./-]{5,}\d(?:\s*(?:x|ext\.?)\s*\d+)?$/i;
const isoDate = /^\d{4}-\d\d-\d\d/;
/**
 * Phone numbers inside a text: with a country, with an area as in `(650) 555-0123`, or after a word for a
 * phone; or as the whole text, with the country after `00`.
 */
const phonesInText = [
  /(?<![\w.])\+\(?\d(?:[\s().-]{0,2}\d){6,14}(?!\d)/,
  /(?<![\d-])(?:\(\d{3}\)\s?|\d{3}[-. ])\d{3}[-. ]\d{4}(?![\d-])/,
  /(?:phone|mobile|whatsapp|\btel|\bsms|callto)\W{1,5}\(?\d(?:[\s().-]{0,2}\d){6,14}(?!\d)/i,
  /^00[1-9](?:\s?\d){8,14}$/,
];
/** In characters: no label, name of an event or phone number is longer. */
const longestShortText = 60;

const jsonStart = /^\s*[{[]/;
/** The base64 of a brace or a bracket before a quote or white space, or of `[{`. */
const base64JsonStart = /^(?:e[wy]|W[wy3])/;

/**
 * Tells whether a body is about a person: such a body is never stored as another event, where the person
 * would be lost. At any depth, and in texts that are JSON, as queues deliver it, one of these is enough: a
 * contact or a lead, an e-mail address, a phone number, the id of a lead, or any id in a body that names an
 * event of a lead. A category is enough where nothing names another kind of object, since products have one
 * too; `isNamedOther` is true where a header names one.
 */
export function holdsPerson(body: Json, isNamedOther = false): boolean {
  const unread: Json[] = [body];
  let hasCategory = false;
  let isOfOtherKind = isNamedOther;
  let hasId = false;
  let namesEventOfLead = false;
  while (unread.length > 0) {
    const value = unread.pop();
    if (typeof value === 'string') {
      if (holdsEmail(value) || phonesInText.some((pattern) => pattern.test(value))) return true;
      const inner = jsonInText(value);
      if (inner !== undefined) unread.push(inner);
    }
    if (typeof value !== 'object' || value === null) continue;
    if (isObject(value)) {
      const members = Object.entries(value);
      if (members.some(isMemberOfPerson) || holdsLabelledPhone(Object.values(value))) return true;
      const ownsCategory = (value['category'] ?? null) !== null;
      hasCategory ||= ownsCategory;
      isOfOtherKind ||= kindIn(value, !ownsCategory)?.isLead === false;
      hasId ||= members.some(isId);
      namesEventOfLead ||= members.some(isEventOfLead);
      if (hasId && namesEventOfLead) return true;
    }
    // Pushing hundreds of thousands of members at once would exceed the stack.
    for (const inner of Object.values(value) as readonly Json[]) unread.push(inner);
  }
  return hasCategory && !isOfOtherKind;
}

type Entry = readonly [name: string, value: Json];

function isMemberOfPerson([name, value]: Entry): boolean {
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
  value.length <= longestShortText &&
  (name === 'type' || isEventName(name)) &&
  wordsOf(value).some((word) => leadWord.test(word));

/**
 * Forms send answers as objects with a label, such as `{"name": "phone_number", "values": ["650 555 0123"]}`.
 */
const holdsLabelledPhone = (values: readonly Json[]): boolean =>
  values.some(isPhoneLabel) && values.some((value) => typeof value !== 'number' && holdsPhone(value));

const isPhoneLabel = (value: Json): boolean =>
  typeof value === 'string' &&
  value.length <= longestShortText &&
  wordsOf(value).some((word) => phoneWord.test(word));

const holdsPhone = (value: Json): boolean =>
  (Array.isArray(value) ? (value as readonly Json[]) : [value]).some(isPhone);

function isPhone(value: Json): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false;
  const text = `${value}`;
  return text.length <= longestShortText && phone.test(text) && !isoDate.test(text);
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
  return base64JsonStart.test(text) ? jsonIn(Buffer.from(text, 'base64').toString()) : undefined;
}
