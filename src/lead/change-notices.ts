import { isObject, type Json } from '../json/exact.ts';
import { attributesOf } from '../json/resource.ts';

/*
 * Words by which services and databases say that a delivery tells of a change: that a member holds the state before
 * it, that the lead was deleted, or that its content is another kind of object. Names and values are compared
 * word by word, since each service joins words in its own way.
 */

type Members = { readonly [key: string]: Json };
type Path = readonly string[];

/** Returns the words of `fullDocumentBeforeChange`, `old_record` or `LEAD-DELETED`, in lower case. */
export const wordsOf = (name: string): readonly string[] =>
  /^[a-z]+$/.test(name) ? [name] : splitWords(name);

const splitWords = (name: string): readonly string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter(Boolean);

const hasWord = (text: string, pattern: RegExp): boolean => wordsOf(text).some((word) => pattern.test(word));

const pastWord =
  /^(?:old|prev|previous|previously|before|former|prior|past|was|original|orig|history|pre|preimage|deleted?|deletion|removed?|erased?|destroy(?:ed)?|trash(?:ed)?|archived|purged|discarded|dropped|replaced|superseded)$/;
/** The start of names that do not separate their words, such as `oldvalue`; not `older` and not `preview`. */
const pastStart = /^(?:old(?!e)|prev(?!iew|ent)|before)/i;

export const isPastName = (name: string): boolean => pastStart.test(name) || hasWord(name, pastWord);

/** Names of the state after a change, or of the lead where there is only one state. */
const presentName =
  /^(?:leads?|records?|rows?|data|new|current|now|present|(?:new|current|after|post)[_-]?(?:record|row|values?|data|image|state|lead|version|document|object))$/i;

/** Whether the present state is empty: then any lead beside it may be a former one. */
export const hasEmptyPresent = (object: Members): boolean =>
  Object.keys(object).some((name) => object[name] === null && presentName.test(name));

/**
 * A member names an event where its last word is an `eventWord`, or an `eventTypeWord` comes before a last `type`,
 * `name` or `code`; binary CloudEvents have a header `ce-type`.
 */
const eventWord =
  /^(?:event|action|op|oper|operation|trigger|topic|kind|rowkind|verb|command|task|mutation|transition|crud|dml)$/;
const eventTypeWord =
  /^(?:event|change|op|operation|action|trigger|hook|webhook|subscription|activity|message|notification|mutation|modification|crud|dml|ce)$/;

/** All names of events and of deletions have such a part: this quick check spares splitting the others. */
const noticePart =
  /event|action|op|trigger|topic|kind|verb|command|task|mutation|transition|crud|dml|change|hook|subscr|activity|message|notif|modif|ce-|delet|tombstone|remov|destr|eras|trash|purge|archiv|redact|anonymi|^type$/i;

export const mayBeNotice = (name: string): boolean => noticePart.test(name);

export function isEventName(name: string): boolean {
  if (!noticePart.test(name)) return false;
  const [last = '', before = ''] = wordsOf(name).toReversed();
  return eventWord.test(last) || (/^(?:type|name|code)$/.test(last) && eventTypeWord.test(before));
}

/** Whether an object calls itself an event; its `type` does so only with a value such as `lead.created`. */
export function isEvent(object: Members): boolean {
  const { type, object: kind } = object;
  if (kind === 'event' || (typeof type === 'string' && /^(?:ping|test)$|[.:]/.test(type))) return true;
  return Object.keys(object).some((name) => typeof object[name] === 'string' && isEventName(name));
}

/**
 * The part of an object in a delivery decides which of its members can say that the lead was deleted:
 * - all: a member that `isEventName` names, such as `event: lead.deleted`
 * - `lead`: also a flag such as `is_deleted`, and a `type` of several words: `ContactDelete` is a flat event; a lead may be a `removal`
 * - `envelope`, which is around the lead: also a flag, and a member such as `status`, which in a lead is the lead's own
 * - `event`, an object inside that one: no flag. An inner lead is read on its own as a `lead`; a flag in any other inner object, such
 *   as a comment, is about that object
 */
type Role = 'event' | 'lead' | 'envelope';

/** Matches the end of a word, because some services write `ONLEADDELETE`; but not `undeleted`. */
const deletionWord =
  /(?<!un)(?:delet(?:e|ed|es|ing|ion)|remov(?:e|ed|es|ing)|destroy(?:ed)?|erased?|erasure|expunged?|purged?|wiped?|trash(?:ed)?|archiv(?:e|ed|ing)|unlink(?:ed)?|redact(?:ed)?|anonymi[sz]ed?|forgotten|disappear(?:ed)?)$/;
/** Change logs of databases write I, U and D, or +I and -D. */
const deletionCode = /^-?d(?:el)?$/i;
const codeWord = /^(?:op|oper|operation|action|rowkind)$/;
const longestEvent = 64;

/** A flag such as `_ab_cdc_deleted_at` has a word of `flagWord`, and otherwise only words of `flagFiller`. */
const flagWord = /^(?:deleted?|deletion|removed|erased|destroyed|trash(?:ed)?|archived|purged|tombstone)$/;
const flagFiller = /^(?:is|was|in|soft|fivetran|sdc|ab|cdc|at|on|date|time|timestamp|flag)$/;

/** Members that name the event in an envelope, and in objects beside a lead that describe it; a lead has its own. */
const envelopeName = /(?:type|name|status|state|method|scope)$/i;
const aboutEvent = /(?:meta(?:data)?|headers?|event|hook|context|info|notification|envelope|request)$/i;

function isDeletionFlag(name: string, value: Json): boolean {
  const isSet = typeof value !== 'object' && !/^(?:false|no|n|0|)$/i.test(String(value));
  if (!isSet || !noticePart.test(name)) return false;
  const words = wordsOf(name);
  const hasOnlyFlagWords = words.every((word) => flagWord.test(word) || flagFiller.test(word));
  return hasOnlyFlagWords && words.some((word) => flagWord.test(word));
}

function saysDeletion(name: string, value: Json, role: Role): boolean {
  if (role !== 'event' && isDeletionFlag(name, value)) return true;
  if (typeof value !== 'string' || value.length > longestEvent) return false;
  if (isEventName(name))
    return hasWord(value, deletionWord) || (deletionCode.test(value) && hasWord(name, codeWord));
  const mayNameEvent = role === 'envelope' && envelopeName.test(name);
  const isTypeOfFlatEvent = role === 'lead' && name === 'type' && wordsOf(value).length > 1;
  return (mayNameEvent || isTypeOfFlatEvent) && !/\s/.test(value) && hasWord(value, deletionWord);
}

const deletionMember = (object: Members, role: Role): string | undefined =>
  Object.keys(object).find((name) => saysDeletion(name, object[name] ?? null, role));

/**
 * Returns the path to the member that says that the lead was deleted: in the object, or in one directly inside it. Inside a lead only
 * objects that describe its event are read: Salesforce has a ChangeEventHeader in each record, Estuary a `_meta`.
 */
export function deletionIn(object: Members, role: 'lead' | 'envelope'): Path | undefined {
  const member = deletionMember(object, role);
  if (member !== undefined) return [member];
  for (const name of Object.keys(object)) {
    const inner = object[name];
    if (!isObject(inner) || (role === 'lead' && !/event|^_meta$/i.test(name))) continue;
    const isAboutEvent = role === 'envelope' && aboutEvent.test(name);
    const innerMember = deletionMember(inner, isAboutEvent ? 'envelope' : 'event');
    if (innerMember !== undefined) return [name, innerMember];
  }
  return undefined;
}

export const leadWord = /^(?:leads?|leadgen|contacts?|prospects?)$/;

const happeningWord =
  /(?:ed|ing)$|^(?:create|insert|update|upsert|add|new|change|modify|edit|save|submit|replace|publish|paid|sent)s?$/;
/** Words that name no kind of object, or that a service may use for its leads. */
const neutralWord =
  /^(?:on|after|before|all|track|next|page|data|crm|v?\d+|(?:record|row|item|object|document|event|hook|webhook|notification|message|form|field|submission|response|answer|person|customer|client|visitor|applicant|subscriber|deal|quote|request|estimate|appointment|booking|call|conversion|signup|registration)s?|people|(?:entr|enquir|inquir|opportunit)(?:y|ies))$/;
const kindName = /^(?:table|model|collection|module|entity|object|resource)(?:[_-]?(?:name|type))?$/i;

/**
 * Returns the member that names the kind of the content, and whether that is a lead. It is undefined where there
 * is no such member. `isAround` is true for an envelope: in a lead, members such as `model` are fields of its own.
 *
 * A member that names a lead is returned at once, whatever its place: `{"event": "invoice.paid", "table": "leads"}` holds a lead.
 * If no member does, the function returns the first member that names another kind, as in `{"table": "invoices"}`. In a lead, an event
 * must look like one, by its value (`invoice.paid`) or its name (`eventType`), since a lead may have a topic such as `new-roof`.
 */
export function kindIn(
  object: Members,
  isAround: boolean,
): { readonly member: string; readonly isLead: boolean } | undefined {
  const isResource = attributesOf(object) !== undefined;
  let otherKind: string | undefined;
  for (const name of Object.keys(object)) {
    const value = object[name];
    if (typeof value !== 'string' || value.length > longestEvent) continue;
    const namesKind = isAround && (kindName.test(name) || (name === 'type' && isResource));
    if (!namesKind && name !== 'type' && !isEventName(name)) continue;
    if (hasWord(value, leadWord)) return { member: name, isLead: true };
    const mayNameEvent = isAround || /[./:]/.test(value) || /event/i.test(name);
    const namesEvent = mayNameEvent && isNameOfEvent(value);
    if (kindsIn(value).length > 0 && (namesKind || namesEvent)) otherKind ??= name;
  }
  return otherKind === undefined ? undefined : { member: otherKind, isLead: false };
}

/** Returns the words that name another kind of object than a lead. */
const kindsIn = (text: string): readonly string[] =>
  wordsOf(text).filter(
    (word) => !happeningWord.test(word) && !neutralWord.test(word) && !leadWord.test(word),
  );

const isNameOfEvent = (text: string): boolean => !/\s/.test(text) && hasWord(text, happeningWord);

type Headers = readonly (readonly [name: string, value: string])[];

/** Finds a header such as `X-Shopify-Topic` that tells of a deletion or of another kind of object. */
export function headerNotice(
  headers: Headers,
): { readonly name: string; readonly isDeletion: boolean } | undefined {
  for (const [name, value] of headers) {
    if (!isEventName(name)) continue;
    const isDeletion = saysDeletion(name, value, 'event');
    const isOtherKind = kindsIn(value).length > 0 && !hasWord(value, leadWord);
    if (isDeletion || isOtherKind) return { name, isDeletion };
  }
  return undefined;
}
