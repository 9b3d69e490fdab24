import { formatPointer, isObject, type Json, valueAt } from '../json/exact.ts';
import { attributesOf, fieldsOf } from '../json/resource.ts';
import {
  deletionIn,
  hasEmptyPresent,
  isEvent,
  isPastName,
  kindIn,
  leadWord,
  mayBeNotice,
  wordsOf,
} from './change-notices.ts';

type Path = readonly string[];

/**
 * The field with a lead's id: its name, or a dotted path such as `contact.id`. `option` is the setting in messages
 * that can name another field; absent where none can.
 */
export interface IdField {
  readonly name: string;
  readonly option?: string | undefined;
}

/**
 * `one`: the only possible place of the lead, or of all leads, as reference tokens where `*` steps through an
 * array; empty for the body itself. Otherwise no lead is taken, and `paths` are the places that were considered.
 * `several`: more than one reading is possible. `past`: the only leads are former ones. `mixed`: some events of a
 * batch hold a lead and others do not. `none`: no object is like a lead, though some may have an id. `deletion`: the
 * member with the pointer `member` says that the lead was deleted. `other`: it names another kind of object.
 */
export type LeadReading =
  | { readonly kind: 'one'; readonly path: Path }
  | { readonly kind: 'several' | 'past' | 'mixed' | 'none'; readonly paths: readonly Path[] }
  | { readonly kind: NoticeKind; readonly paths: readonly Path[]; readonly member: string };

export type NoticeKind = 'deletion' | 'other';

/**
 * How much an object is like a lead of section 2 of the specification. `otherId`: its id may have another name.
 * `identified`: it has an id. `related`: and a field of a lead or a person. `lead`: and most fields of a lead.
 */
const likeness = { otherId: 0, identified: 1, related: 2, lead: 3 } as const;
type Likeness = (typeof likeness)[keyof typeof likeness];

/**
 * A place in the body. `isPast`: a name on the way to it tells of a former state. `deletion` and `otherKind` are paths to
 * the member that says that the lead was deleted, and to that which names another kind of object.
 */
interface Place {
  readonly path: Path;
  readonly isPast: boolean;
  readonly deletion: Path | undefined;
  readonly otherKind: Path | undefined;
}

/**
 * The object, or all objects at a path with `*`, that may be the lead. `isWhole`: every one has the category and
 * the contact of a lead, so that it carries no other lead. `isMixed`: some are like a lead and others are not.
 */
interface Candidate extends Place {
  readonly likeness: Likeness;
  readonly isWhole: boolean;
  readonly isEvent: boolean;
  readonly isMixed: boolean;
}

type Members = { readonly [key: string]: Json };

const maxDepth = 4;
const longestPathWithSteps = 2 * maxDepth;

/** Fields of a person: an object with an id and such a field may be a lead. */
const personName = /e[-_]?mail|phone|mobile|(?:first|last|full)[-_]?name/i;

/** Names of members that may hold the id of a lead, where it is not in the member that is set. */
export const idLikeName =
  /^(?:lead|leadgen|record|entry|response|submission|contact)[\s_-]?id$|^_?(?:uu|gu)?id$/i;

const payloadName =
  /^(?:data|payload|object|records?|leads?|entry|entries|items?|rows?|entity|resource|document|details?|bod(?:y|ies)|values?|new|after|current|result|event|message|content)$/i;

/**
 * Finds the lead or the leads of a body where exactly one reading is possible. A lead has an id, in the
 * member `idName`, and fields of section 2 of the specification. An object around a better lead is its
 * envelope, and members that name the past hold none. A body with an id alone is the lead where nothing
 * inside it has an id and nothing calls it an event.
 */
export function findLeads(body: Json, idName: string): LeadReading {
  if (isFlatLead(body, idName)) return { kind: 'one', path: [] };
  const candidates = new Map<string, Candidate>();
  const top = { path: [], isPast: false, deletion: undefined, otherKind: undefined };
  collect(body, top, idName, candidates);
  const present = [...candidates.values()].filter(({ isPast }) => !isPast);
  const past = bestOf([...candidates.values()].filter(({ isPast }) => isPast));
  const root = present.find(({ path }) => path.length === 0);
  const [lead, ...rivals] = bestOf(present).filter((candidate) => candidate.likeness >= likeness.related);
  const [former] = past;
  const mayBeEnvelope = lead === root && lead?.isWhole !== true;
  if (former !== undefined && (lead === undefined || (mayBeEnvelope && former.likeness > lead.likeness)))
    return { kind: 'past', paths: past.map(pathOf) };
  if (lead !== undefined) return readingOf(lead, rivals.length > 0 ? rivals : payloadsOf(lead, present));
  const inside = present.filter((candidate) => candidate !== root);
  return root === undefined || root.isEvent
    ? { kind: 'none', paths: inside.map(pathOf) }
    : readingOf(root, inside);
}

const pathOf = ({ path }: Candidate): Path => path;

function bestOf(candidates: readonly Candidate[]): readonly Candidate[] {
  const best = candidates.reduce<number>((maximum, candidate) => Math.max(maximum, candidate.likeness), 0);
  return candidates.filter((candidate) => candidate.likeness === best);
}

function readingOf(
  { path, deletion, otherKind, isMixed }: Candidate,
  rivals: readonly Candidate[],
): LeadReading {
  if (rivals.length > 0) return { kind: 'several', paths: [path, ...rivals.map(pathOf)] };
  const paths = [path];
  if (deletion !== undefined) return { kind: 'deletion', member: formatPointer(deletion), paths };
  if (otherKind !== undefined) return { kind: 'other', member: formatPointer(otherKind), paths };
  return isMixed ? { kind: 'mixed', paths } : { kind: 'one', path };
}

/** An event may have its own category or e-mail address: then its content with an id may be the lead. */
function payloadsOf(lead: Candidate, present: readonly Candidate[]): readonly Candidate[] {
  if (lead.isWhole) return [];
  return present.filter(({ path }) => {
    const innerNames = path.slice(lead.path.length).filter((step) => step !== '*');
    const isInside = innerNames.length > 0 && lead.path.every((step, index) => step === path[index]);
    return isInside && (lead.isEvent || innerNames.every((name) => payloadName.test(name)));
  });
}

/**
 * Recognizes the usual delivery: the objects of this lead hold no further ones, so that no other lead can be
 * inside.
 */
function isFlatLead(body: Json, idName: string): boolean {
  if (!isObject(body) || !isObject(body['contact'])) return false;
  if (likenessOf(body, idName, true) !== likeness.lead) return false;
  return Object.entries(body).every(([name, value]) => {
    if (!isContainer(value)) return !mayBeNotice(name);
    const isKnown = name === 'contact' || name === 'metadata';
    return isKnown && Object.entries(value).every(([key, inner]) => key !== idName && !isContainer(inner));
  });
}

const isContainer = (value: Json): value is Members | readonly Json[] =>
  typeof value === 'object' && value !== null;

/** Adds the candidates at `place` and below it; those at the same path with `*` become one. */
function collect(value: Json, place: Place, idName: string, candidates: Map<string, Candidate>): void {
  const { path, isPast } = place;
  if (!isContainer(value) || path.length > longestPathWithSteps) return;
  if (Array.isArray(value)) {
    const within = { ...place, path: [...path, '*'] };
    for (const element of value as readonly Json[]) collect(element, within, idName, candidates);
    return;
  }
  if (!isObject(value)) return;
  const candidate = candidateAt(value, place, idName);
  if (candidate !== undefined) {
    const key = (isPast ? 'past ' : '') + formatPointer(path);
    const earlier = candidates.get(key);
    candidates.set(key, earlier === undefined ? candidate : merged(earlier, candidate));
  }
  if (path.filter((step) => step !== '*').length === maxDepth) return;
  // The relations of a resource object of JSON:API are beside its attributes, and have ids.
  const attributes = attributesOf(value);
  const inside = (attributes === undefined ? Object.keys(value) : ['attributes']).filter((name) =>
    isContainer(value[name] ?? null),
  );
  if (inside.length === 0) return;
  const deletion = place.deletion ?? pathWithin(path, deletionIn(value, 'envelope'));
  const otherKind = otherKindOf(value, place, true);
  const isPresentEmpty = hasEmptyPresent(value);
  for (const name of inside) {
    const isInPast = isPast || isPastName(name) || (isPresentEmpty && !payloadName.test(name));
    const innerPlace = { path: [...path, name], isPast: isInPast, deletion, otherKind };
    collect(value[name] ?? null, innerPlace, idName, candidates);
  }
}

const pathWithin = (path: Path, names: Path | undefined): Path | undefined => names && [...path, ...names];

function otherKindOf(object: Members, { path, otherKind }: Place, isAround: boolean): Path | undefined {
  const kind = kindIn(object, isAround);
  if (kind === undefined) return otherKind;
  return kind.isLead ? undefined : [...path, kind.member];
}

function candidateAt(object: Members, place: Place, idName: string): Candidate | undefined {
  const { path, isPast, deletion } = place;
  const isNamedLead = isBodyOrNamedLead(path);
  const objectLikeness = likenessOf(object, idName, isNamedLead);
  if (objectLikeness === undefined && (isPast || !mayHaveOtherId(object, path, idName))) return undefined;
  const { category, contact } = fieldsOf(object);
  const mayBeOther = !isObject(contact) && !(isNamedLead && path.length > 0) && !isOfPerson(object);
  return {
    ...{ path, isPast, isMixed: false, isEvent: isEvent(object) },
    isWhole: typeof category === 'string' && isObject(contact),
    likeness: objectLikeness ?? likeness.otherId,
    deletion: deletion ?? pathWithin(path, deletionIn(object, 'lead')),
    otherKind: mayBeOther ? otherKindOf(object, place, attributesOf(object) !== undefined) : undefined,
  };
}

function merged(earlier: Candidate, later: Candidate): Candidate {
  const hasEvent = earlier.isEvent || later.isEvent;
  // The objects of an array are of one kind, whatever fields they have; the events of an array are not.
  const areOneKind = later.path.at(-1) === '*' && !hasEvent;
  const [wasLike, isLike] = [earlier, later].map((candidate) => candidate.likeness >= likeness.related);
  return {
    ...(earlier.likeness > later.likeness ? earlier : later),
    isWhole: earlier.isWhole && later.isWhole,
    isEvent: hasEvent,
    isMixed: earlier.isMixed || (wasLike !== isLike && !areOneKind),
    deletion: earlier.deletion ?? later.deletion,
    otherKind: earlier.otherKind ?? later.otherKind,
  };
}

function isBodyOrNamedLead(path: Path): boolean {
  const name = path.findLast((step) => step !== '*');
  return name === undefined || wordsOf(name).some((word) => /^leads?$/.test(word));
}

const hasPersonName = (object: Members): boolean => Object.keys(object).some((name) => personName.test(name));

export const isOfPerson = (object: Members): boolean =>
  Object.keys(fieldsOf(object)).some(
    (name) => personName.test(name) || wordsOf(name).some((word) => leadWord.test(word)),
  );

function mayHaveOtherId(object: Members, path: Path, idName: string): boolean {
  // A path such as `lead.id` names the id of a nested object already.
  if (path.length === 0 || idName.includes('.')) return false;
  return (
    Object.keys(object).some((name) => idLikeName.test(name)) &&
    (isBodyOrNamedLead(path) || 'category' in object || 'contact' in object || hasPersonName(object))
  );
}

/**
 * An object with an id is a lead if it also has a contact and one more field of section 2, or all of them but the
 * contact.
 */
function likenessOf(object: Members, idName: string, mayBePerson: boolean): Likeness | undefined {
  if (idIn(object, idName) === undefined) return undefined;
  const { category, contact, createdAt, metadata } = fieldsOf(object);
  const isDated = typeof createdAt === 'string' || typeof createdAt === 'number';
  const score =
    (isObject(contact) ? 2 : 0) +
    (typeof category === 'string' ? 1 : 0) +
    (isDated ? 1 : 0) +
    (isObject(metadata) ? 1 : 0);
  if (score >= 3) return likeness.lead;
  const isIdAtPath = object[idName] === undefined;
  const isRelated = typeof category === 'string' || contact !== undefined || isIdAtPath;
  return isRelated || (mayBePerson && hasPersonName(object)) ? likeness.related : likeness.identified;
}

/** Returns the id of an object by its name, or by a dotted path such as `contact.id`. */
export const idIn = (object: Members, idName: string): Json | undefined =>
  object[idName] ?? (idName.includes('.') ? valueAt(object, idName.split('.')) : undefined);
