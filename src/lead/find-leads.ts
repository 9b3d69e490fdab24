import { formatPointer, isObject, type Json, valueAt } from '../json/exact.ts';
import { attributesOf, fieldsOf } from '../json/resource.ts';
import {
  deletionAround,
  deletionOf,
  hasEmptyPresent,
  isEvent,
  isPastName,
  mayBeNotice,
  wordsOf,
} from './change-notices.ts';

type Path = readonly string[];

/** The result of looking for the leads of a body. */
export type LeadReading =
  /** Only one is possible: the reference tokens of the place, where `*` steps through an array; none for the body itself. */
  | { readonly kind: 'one'; readonly path: Path }
  /** More than one is, so that none is taken. */
  | { readonly kind: 'several'; readonly paths: readonly Path[] }
  /** The only leads are those of the past, as in a notice of a deletion. */
  | { readonly kind: 'past'; readonly paths: readonly Path[] }
  /** The body says that the lead which it holds was deleted; this is the member that says so. */
  | { readonly kind: 'deletion'; readonly member: string; readonly path: Path }
  /** Of the events of a batch, some hold a lead and others hold something else. */
  | { readonly kind: 'mixed'; readonly path: Path }
  /** No object is like a lead; some have an id at least. */
  | { readonly kind: 'none'; readonly identified: readonly Path[] };

/** How much an object with an id looks like a lead of section 2 of the specification. */
const likeness = { identified: 0, related: 1, lead: 2 } as const;
type Likeness = (typeof likeness)[keyof typeof likeness];

/** A place of objects with an id. Where `*` steps through arrays, the place has the best likeness of its objects. */
interface Candidate {
  readonly path: Path;
  readonly likeness: Likeness;
  /** Each of its objects has the category and the contact of a lead, so that it carries no other one. */
  readonly isWhole: boolean;
  /** One of its objects names an event. */
  readonly isEvent: boolean;
  /** Some of its objects are like a lead and others are not. */
  readonly isMixed: boolean;
  /** The member that says that one of its objects was deleted. */
  readonly deletion: Path | undefined;
}

type Members = { readonly [key: string]: Json };

interface Candidates {
  readonly present: Map<string, Candidate>;
  readonly past: Map<string, Candidate>;
  /** Places of objects that may be leads whose id has another name. */
  readonly otherIds: Map<string, Path>;
}

/** Members on the way to a lead; the arrays between them do not count. */
const deepest = 4;
/** Members and arrays together. */
const longestPath = 2 * deepest;

/** Members of a person, by which a body with an id may be a lead. */
const personName = /e[-_]?mail|phone|mobile|(?:first|last|full)[-_]?name/i;

/** Services name a lead's id so. */
export const idLikeName =
  /^(?:lead|leadgen|record|entry|response|submission|contact)[\s_-]?id$|^_?(?:uu|gu)?id$/i;

/** Members in which events carry what they are about. */
const payloadName =
  /^(?:data|payload|object|records?|leads?|entry|entries|items?|rows?|entity|resource|document|details?|bod(?:y|ies)|values?|new|after|current|result|event|message|content)$/i;

/**
 * Finds the lead of a body, or its leads, where exactly one reading is possible. A lead has an id, in the member `idName`, and fields of
 * section 2 of the specification; what holds a better one is its envelope, and members that name the past hold none. A body
 * with an id alone is the lead where nothing inside it has an id and nothing calls it an event.
 */
export function findLeads(body: Json, idName: string): LeadReading {
  if (isFlatLead(body, idName)) return { kind: 'one', path: [] };
  const candidates: Candidates = { present: new Map(), past: new Map(), otherIds: new Map() };
  collect(body, { path: [], members: 0, isPast: false, deletion: undefined }, idName, candidates);
  const present = [...candidates.present.values()];
  const past = [...candidates.past.values()];
  const root = candidates.present.get('');
  const best = bestOf(present);
  const [lead, ...rivals] =
    best < likeness.related ? [] : present.filter((candidate) => candidate.likeness === best);
  if (lead !== undefined) {
    if (lead === root && !lead.isWhole && bestOf(past) > best) return pastReading(past);
    return readingOf(lead, rivals.length > 0 ? rivals.map(pathOf) : pathsOfPayloads(lead, candidates));
  }
  if (past.length > 0) return pastReading(past);
  const inside = [
    ...present.filter((candidate) => candidate !== root).map(pathOf),
    ...candidates.otherIds.values(),
  ];
  return root === undefined || root.isEvent ? { kind: 'none', identified: inside } : readingOf(root, inside);
}

const pathOf = ({ path }: Candidate): Path => path;

const bestOf = (candidates: readonly Candidate[]): number =>
  candidates.reduce((best, candidate) => Math.max(best, candidate.likeness), -1);

function pastReading(past: readonly Candidate[]): LeadReading {
  const best = bestOf(past);
  return { kind: 'past', paths: past.filter((candidate) => candidate.likeness === best).map(pathOf) };
}

function readingOf({ path, deletion, isMixed }: Candidate, rivals: readonly Path[]): LeadReading {
  if (rivals.length > 0) return { kind: 'several', paths: [path, ...rivals] };
  if (deletion !== undefined) return { kind: 'deletion', member: formatPointer(deletion), path };
  return { kind: isMixed ? 'mixed' : 'one', path };
}

/** An event may have a category or an e-mail address of its own: what it carries may then be the lead, if it has an id. */
function pathsOfPayloads(lead: Candidate, { present, otherIds }: Candidates): readonly Path[] {
  if (lead.isWhole) return [];
  const { length } = lead.path;
  return [...[...present.values()].map(pathOf), ...otherIds.values()].filter((path) => {
    const below = path.slice(length).filter((step) => step !== '*');
    const isInside = below.length > 0 && lead.path.every((step, index) => step === path[index]);
    return isInside && (lead.isEvent || below.every((name) => payloadName.test(name)));
  });
}

/** The usual delivery: a lead whose objects hold no further ones, so that no other lead can be inside. */
function isFlatLead(body: Json, idName: string): boolean {
  if (!isObject(body) || !isObject(body['contact'])) return false;
  if (likenessOf(body, idName, true) !== likeness.lead) return false;
  for (const name in body) {
    const inner = body[name];
    if (typeof inner !== 'object' || inner === null) {
      if (name !== 'id' && name !== 'category' && name !== 'createdAt' && mayBeNotice(name)) return false;
      continue;
    }
    if (name !== 'contact' && name !== 'metadata') return false;
    for (const key in inner as Members) {
      const value = (inner as Members)[key];
      if (key === idName || (typeof value === 'object' && value !== null)) return false;
    }
  }
  return true;
}

interface Place {
  readonly path: Path;
  /** Members of objects in the path. */
  readonly members: number;
  /** Below a member that names the past. */
  readonly isPast: boolean;
  /** The member, of what is above, that says that the lead was deleted. */
  readonly deletion: Path | undefined;
}

function collect(value: Json, place: Place, idName: string, candidates: Candidates): void {
  const { path, members, isPast } = place;
  if (typeof value !== 'object' || value === null || path.length > longestPath) return;
  if (Array.isArray(value)) {
    const within = { ...place, path: [...path, '*'] };
    for (const element of value as readonly Json[]) collect(element, within, idName, candidates);
    return;
  }
  if (!isObject(value)) return;
  addCandidate(value, place, idName, candidates);
  if (members === deepest) return;
  // What a resource object of JSON:API is related to is beside its attributes, and has ids.
  const attributes = attributesOf(value);
  const inside = Object.entries(attributes === undefined ? value : { attributes }).filter(
    ([, inner]) => typeof inner === 'object' && inner !== null,
  );
  if (inside.length === 0) return;
  const around = place.deletion === undefined ? deletionAround(value) : undefined;
  const deletion = around === undefined ? place.deletion : [...path, ...around];
  const isEmptyNow = hasEmptyPresent(value);
  for (const [name, inner] of inside) {
    const below = {
      path: [...path, name],
      members: members + 1,
      isPast: isPast || isPastName(name) || (isEmptyNow && !payloadName.test(name)),
      deletion,
    };
    collect(inner, below, idName, candidates);
  }
}

/** Adds an object with an id to the candidates: to that of its place, where `*` leads to several objects. */
function addCandidate(
  object: Members,
  { path, isPast, deletion: deletionAbove }: Place,
  idName: string,
  { present, past, otherIds }: Candidates,
): void {
  const isCalledLead = isLeadName(path);
  const objectLikeness = likenessOf(object, idName, isCalledLead);
  if (objectLikeness === undefined) {
    // A path such as `lead.id` says already that the id of this object is that of the one around it.
    const mayHaveOther = !isPast && path.length > 0 && !idName.includes('.');
    if (mayHaveOther && hasOtherId(object, isCalledLead)) otherIds.set(formatPointer(path), path);
    return;
  }
  const pointer = formatPointer(path);
  const places = isPast ? past : present;
  const earlier = places.get(pointer);
  const isOfEvent = isEvent(object) || earlier?.isEvent === true;
  const ownDeletion = deletionOf(object);
  const deletion =
    deletionAbove ?? (ownDeletion === undefined ? undefined : [...path, ...ownDeletion]) ?? earlier?.deletion;
  // The objects of one array are of one kind, whatever fields they have; the events of one are not.
  const areOneKind = path.at(-1) === '*' && !isOfEvent;
  const isOther =
    earlier !== undefined &&
    (objectLikeness === likeness.identified) !== (earlier.likeness === likeness.identified);
  places.set(pointer, {
    ...{ path, deletion, isEvent: isOfEvent },
    likeness: earlier === undefined || objectLikeness > earlier.likeness ? objectLikeness : earlier.likeness,
    isMixed: earlier?.isMixed === true || (isOther && !areOneKind),
    isWhole: isWholeLead(object) && earlier?.isWhole !== false,
  });
}

/** Whether the place is the body itself, an array that is the body, or has a name such as `newLead`. */
function isLeadName(path: Path): boolean {
  const name = path.findLast((step) => step !== '*');
  return name === undefined || (/lead/i.test(name) && wordsOf(name).some((word) => /^leads?$/.test(word)));
}

const isWholeLead = (object: Members): boolean => {
  const { category, contact } = fieldsOf(object);
  return typeof category === 'string' && isObject(contact);
};

/** Whether an object without the id may be a lead whose id has another name. */
function hasOtherId(object: Members, isNamedLead: boolean): boolean {
  const names = Object.keys(object);
  return (
    names.some((name) => idLikeName.test(name)) &&
    (isNamedLead || names.some((name) => name === 'category' || name === 'contact' || personName.test(name)))
  );
}

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
  // A path such as `lead.id` was named for just such bodies.
  const isRelated = category !== undefined || contact !== undefined || object[idName] === undefined;
  const isPerson = mayBePerson && Object.keys(object).some((name) => personName.test(name));
  return isRelated || isPerson ? likeness.related : likeness.identified;
}

/** The id of an object, by its name or by the path that the dots of the name make: `contact.id`. */
export const idIn = (object: Members, idName: string): Json | undefined =>
  object[idName] ?? (idName.includes('.') ? valueAt(object, idName.split('.')) : undefined);
