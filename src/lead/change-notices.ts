import { isObject, type Json, jsonIn } from '../json/exact.ts';

type Members = { readonly [key: string]: Json };

/** The words of `fullDocumentBeforeChange`, `old_record` or `LEAD-DELETED`, in lower case. */
export const wordsOf = (name: string): readonly string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter(Boolean);

const pastWord =
  /^(?:old|prev|previous|previously|before|former|prior|past|was|original|orig|history|pre|preimage|deleted?|deletion|removed?|erased?|destroy(?:ed)?|trash(?:ed)?|archived|discarded|dropped|replaced|superseded)$/;
/** The same without a capital or a line between the words, such as `oldvalue`; not `older` and not `preview`. */
const pastStart = /^(?:old(?!e)|prev(?!iew|ent)|before)/i;

/** Part of each such name: a quick look, which spares the splitting of all others. */
const pastPart =
  /old|pre|past|before|former|prior|was|orig|hist|delet|remov|eras|destr|trash|archived|discard|dropped|replaced|supersed/i;

/** Members that hold what a lead was before a change, as databases and customer services name them. */
export const isPastName = (name: string): boolean =>
  pastPart.test(name) && (pastStart.test(name) || wordsOf(name).some((word) => pastWord.test(word)));

/** Members that hold what a lead is after a change. */
const presentName =
  /^(?:leads?|records?|rows?|data|new|current|now|present|(?:new|current|after|post)[_-]?(?:record|row|values?|data|image|state|lead|version|document|object))$/i;

/** Whether what a lead is now is empty: a lead beside it may be a former one, whatever its name. */
export const hasEmptyPresent = (object: Members): boolean =>
  Object.keys(object).some((name) => object[name] === null && presentName.test(name));

/** The last word of members that name an event, and the word before a last `type` or `name`. */
const eventWord = /^(?:event|action|op|operation|trigger|topic|kind|verb|command|task)$/;
const eventTypeWord = /^(?:event|change|operation|action|trigger|hook|webhook|subscription|activity)$/;

/** Part of each name of a member that tells of an event or of a deletion: a quick look as well. */
const noticePart =
  /event|action|op|trigger|topic|kind|verb|command|task|change|hook|subscr|activity|delet|tombstone|remov|destr|eras|trash|purge|redact|anonymi/i;

/** Whether a member of a lead, by its name, may tell of an event or of a deletion. */
export const mayBeNotice = (name: string): boolean => noticePart.test(name);

/** Members that name an event, such as `event`, `eventType` and `trigger_event`. */
function isEventName(name: string): boolean {
  if (!noticePart.test(name)) return false;
  const words = wordsOf(name);
  const last = words.at(-1) ?? '';
  return eventWord.test(last) || (/^(?:type|name)$/.test(last) && eventTypeWord.test(words.at(-2) ?? ''));
}

/** Whether an object says that it tells of something that happened; its `type` does only with a value such as `lead.created`. */
export function isEvent(object: Json): boolean {
  if (!isObject(object)) return false;
  const { type, object: kind } = object;
  if (kind === 'event' || (typeof type === 'string' && /^(?:ping|test)$|[.:]/.test(type))) return true;
  return Object.keys(object).some((name) => typeof object[name] === 'string' && isEventName(name));
}

/** The end of a word, since some services write `ONLEADDELETE`; not `undeleted`. */
const deletionWord =
  /(?<!un)(?:delet(?:e|ed|es|ing|ion)|remov(?:e|ed|es|ing)|destroy(?:ed)?|erased?|erasure|purged?|trashed|redact(?:ed)?|anonymi[sz]ed?)$/;
/** An event has no longer name. */
const longestEvent = 64;

const saysDeletion = (name: string, value: Json): boolean =>
  typeof value === 'string' &&
  value.length <= longestEvent &&
  ((noticePart.test(value) && wordsOf(value).some((word) => deletionWord.test(word))) ||
    // Logs of changes in databases write I, U and D.
    (/^d$/i.test(value) && /^(?:op|operation)$/.test(wordsOf(name).at(-1) ?? '')));

const deletionFlag =
  /^_*(?:(?:is|was|soft|fivetran)_?)?(?:deleted|removed|erased|destroyed|trashed|tombstone)(?:_?(?:at|on|date|time))?$/i;

const isDeletionFlag = (name: string, value: Json): boolean =>
  (value === true || (typeof value === 'number' && value > 0) || isYes(value)) && deletionFlag.test(name);

const isYes = (value: Json): boolean =>
  typeof value === 'string' && value !== '' && !/^(?:false|no|n|0)$/i.test(value);

/** The names on the way to the member by which an object says that it was deleted itself. */
export function deletionOf(object: Members): readonly string[] | undefined {
  for (const name in object) {
    if (!noticePart.test(name)) continue;
    const value = object[name] ?? null;
    if (isDeletionFlag(name, value) || (isEventName(name) && saysDeletion(name, value))) return [name];
    // Salesforce has a ChangeEventHeader in each record.
    const member = isObject(value) && /event/i.test(name) ? deletionEvent(value) : undefined;
    if (member !== undefined) return [name, member];
  }
  return undefined;
}

const deletionEvent = (object: Members): string | undefined =>
  Object.keys(object).find((name) => isEventName(name) && saysDeletion(name, object[name] ?? null));

/** Members that name an event in what is around a lead; in a lead they are fields of its own. */
const outerEventName = /(?:type|name|status|state|method)$/i;
/** Objects beside a lead that are about the event, so that these members count in them as well. */
const outerObjectName = /(?:meta(?:data)?|headers?|event|hook|context|info|notification|envelope|request)$/i;

/** The names on the way to the member by which an object says that the lead inside it was deleted. */
export function deletionAround(object: Members): readonly string[] | undefined {
  const ownMember = deletionOf(object) ?? outerDeletion(object);
  if (ownMember !== undefined) return ownMember;
  for (const [name, inner] of Object.entries(object)) {
    if (!isObject(inner)) continue;
    const member = deletionEvent(inner);
    if (member !== undefined) return [name, member];
    const outer = outerObjectName.test(name) ? outerDeletion(inner) : undefined;
    if (outer !== undefined) return [name, ...outer];
  }
  return undefined;
}

/** Headers by which shops and others name the event, such as `X-Shopify-Topic`. */
const eventHeader = /(?:topic|event|event-type|action)$/i;

/** The header by which a delivery says that the lead in it was deleted. */
export const deletionHeader = (
  headers: readonly (readonly [name: string, value: string])[],
): string | undefined =>
  headers.find(([name, value]) => eventHeader.test(name) && saysDeletion(name, value))?.[0];

function outerDeletion(object: Members): readonly string[] | undefined {
  const member = Object.keys(object).find((name) => {
    const value = object[name] ?? null;
    return (
      typeof value === 'string' && outerEventName.test(name) && !/\s/.test(value) && saysDeletion(name, value)
    );
  });
  return member === undefined ? undefined : [member];
}

/** Members that only a lead has, or that hold one. */
const leadName = /^(?:category|contacts?|leads?)$/;
const leadWord = /^(?:leads?|leadgen|contacts?|prospects?)$/;
const idWord = /^(?:ids?|uuids?|guids?|keys?|refs?|number)$/;

const email = /^[^\s@<>]@[^\s@<>]+\.\p{L}{2}/u;
/** A host name is not longer (RFC 1035). */
const longestHost = 255;

/** A word of a name such as `caller_number` or of a label such as `PHONE_NUMBER`. */
const phoneWord = /phone|mobile|whatsapp|^(?:tel|telefono?|cell|msisdn|fax|caller|callee|sms)$/;
const phone = /^\+?\(?\d[\d\s()./-]{5,}\d(?:\s*(?:x|ext\.?)\s*\d+)?$/i;
const isoDate = /^\d{4}-\d\d-\d\d/;
/** Phone numbers inside a text: with a country, with an area as in `(650) 555-0123`, and behind what says so. */
const phonesInText = [
  /(?<![\w.])\+\(?\d(?:[\s().-]{0,2}\d){6,14}(?!\d)/,
  /(?<![\d-])(?:\(\d{3}\)\s?|\d{3}[-. ])\d{3}[-. ]\d{4}(?![\d-])/,
  /(?:phone|mobile|whatsapp|\btel|\bsms|callto)\W{1,5}\(?\d(?:[\s().-]{0,2}\d){6,14}(?!\d)/i,
  /^00[1-9](?:\s?\d){8,14}$/,
];
/** Texts that are looked at as a number or a label; any other text is longer. */
const longestLabel = 60;

/** The start of an object or an array of JSON, as text or in Base64. */
const jsonStart = /^\s*[{[]/;
const base64Start = /^(?:e[wy]|W[wy3])/;

/**
 * Tells whether a body holds a field or an id of a lead, an e-mail address or a phone number, however deep it is, also in JSON that
 * is a text of it, as queues deliver it. Such a body is never filed as another event, where nobody would find the person.
 */
export function holdsPerson(body: Json): boolean {
  const open: Json[] = [body];
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
      hasId ||= members.some(isId);
      tellsOfLead ||= members.some(isEventOfLead);
      if (hasId && tellsOfLead) return true;
    }
    // A push of all members at once would exceed the stack where there are hundreds of thousands.
    for (const inner of Object.values(value) as readonly Json[]) open.push(inner);
  }
  return false;
}

type Entry = readonly [name: string, value: Json];

function isOfPerson([name, value]: Entry): boolean {
  if (value === null) return false;
  if (leadName.test(name) || holdsEmail(name)) return true;
  const words = wordsOf(name);
  if (words.some((word) => leadWord.test(word)) && idWord.test(words.at(-1) ?? '')) return true;
  return words.some((word) => phoneWord.test(word)) && holdsPhone(value);
}

const isId = ([name, value]: Entry): boolean =>
  (typeof value === 'string' || typeof value === 'number' || Array.isArray(value)) &&
  idWord.test(wordsOf(name).at(-1) ?? '');

/** A notice such as `lead.created` has the id of a lead, whatever that is called. */
const isEventOfLead = ([name, value]: Entry): boolean =>
  typeof value === 'string' &&
  value.length <= longestLabel &&
  (name === 'type' || isEventName(name)) &&
  wordsOf(value).some((word) => leadWord.test(word));

/** Forms send answers as objects with a label, such as `{"name": "phone_number", "values": ["650 555 0123"]}`. */
const holdsLabelledPhone = (values: readonly Json[]): boolean =>
  values.some(isPhoneLabel) && values.some((value) => typeof value !== 'number' && holdsPhone(value));

const isPhoneLabel = (value: Json): boolean =>
  typeof value === 'string' &&
  value.length <= longestLabel &&
  wordsOf(value).some((word) => phoneWord.test(word));

function holdsPhone(value: Json): boolean {
  if (Array.isArray(value)) return (value as readonly Json[]).some(isPhone);
  return isPhone(value);
}

function isPhone(value: Json): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false;
  const text = `${value}`;
  return text.length <= longestLabel && phone.test(text) && !isoDate.test(text);
}

/** Looks behind each `@` alone: a pattern that searches takes quadratic time on a long text. */
function holdsEmail(text: string): boolean {
  const plain = text.includes('%40') ? text.replaceAll('%40', '@') : text;
  for (let sign = plain.indexOf('@', 1); sign > 0; sign = plain.indexOf('@', sign + 1)) {
    if (email.test(plain.slice(sign - 1, sign + longestHost))) return true;
  }
  return false;
}

/** The value of a text that is JSON, or Base64 of JSON. */
function jsonInText(text: string): Json | undefined {
  if (jsonStart.test(text)) return jsonIn(text);
  return base64Start.test(text) ? jsonIn(Buffer.from(text, 'base64').toString()) : undefined;
}
