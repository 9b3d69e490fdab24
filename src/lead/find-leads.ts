import { formatPointer, isObject, type Json, valueAt } from '../json/exact.ts';
import { fieldsOf } from '../json/resource.ts';

/** The result of looking for the leads of a body. */
export type LeadReading =
  /** Only one is possible: the reference tokens of the place, where `*` steps through an array; none for the body itself. */
  | { readonly kind: 'one'; readonly path: readonly string[] }
  /** More than one is, so that none is taken. */
  | { readonly kind: 'several'; readonly paths: readonly (readonly string[])[] }
  /** The only leads are those of the past, as in a notice of a deletion. */
  | { readonly kind: 'past'; readonly paths: readonly (readonly string[])[] }
  /** The body says that the lead which it holds was deleted; this is the member that says so. */
  | { readonly kind: 'deletion'; readonly member: string; readonly path: readonly string[] }
  | { readonly kind: 'none' };

/** How much an object with an id looks like a lead of section 2 of the specification. */
const likeness = { identified: 0, related: 1, lead: 2 } as const;
type Likeness = (typeof likeness)[keyof typeof likeness];

/** A place of objects with an id. Where `*` steps through arrays, the place has the best likeness of its objects. */
interface Candidate {
  readonly path: readonly string[];
  likeness: Likeness;
}

type Members = { readonly [key: string]: Json };

interface Candidates {
  readonly present: Map<string, Candidate>;
  readonly past: Map<string, Candidate>;
}

/** Members on the way to a lead; the arrays between them do not count. */
const deepest = 4;
/** Members and arrays together. */
const longestPath = 2 * deepest;

/** Members that hold what a lead was before a change, as databases and customer services name them. */
const pastName =
  /^(?:old|prev)|^(?:before|deleted)(?:$|[_-]|[A-Z])|(?:[_-](?:old|prev|previous|before)|Old|Prev|Previous|Before)$/;

/** Members that name an event; `type` does only with a value such as `lead.created`. */
const eventNames = [
  ...['event', 'eventType', 'event_type', 'eventName', 'event_name', 'action', 'op', 'operation'],
  ...['operationType', 'topic', 'kind'],
];
const deletion = /(?:^|[^a-z])(?:deleted?|removed?|destroy(?:ed)?|erased?)(?![a-z])/i;

/** Members of a person, by which a body with an id may be a lead. */
const personName = /e[-_]?mail|phone|mobile|(?:first|last|full)[-_]?name/i;

/**
 * Finds the lead of a body, or its leads, where exactly one reading is possible. A lead has an id, in the member `idName`, and fields of
 * section 2 of the specification; what holds a better one is its envelope, and members that name the past hold none. A body
 * with an id alone is the lead where nothing inside it has an id and nothing calls it an event.
 */
export function findLeads(body: Json, idName: string): LeadReading {
  if (isFlatLead(body, idName)) return { kind: 'one', path: [] };
  const candidates: Candidates = { present: new Map(), past: new Map() };
  collect(body, { path: [], members: 0, isPast: false }, idName, candidates);
  const root = candidates.present.get('');
  candidates.present.delete('');
  const inside = [...candidates.present.values()];
  const past = [...candidates.past.values()];
  const best = inside.reduce<number>((top, { likeness: next }) => Math.max(top, next), -1);
  const rootLikeness = root?.likeness ?? -1;
  if (best >= likeness.related && best >= rootLikeness) {
    const rivals = inside.filter((candidate) => candidate.likeness === best);
    return readingOf(body, root !== undefined && rootLikeness === best ? [root, ...rivals] : rivals);
  }
  if (rootLikeness >= likeness.related) return { kind: 'one', path: [] };
  if (past.length > 0) return { kind: 'past', paths: past.map(({ path }) => path) };
  if (root === undefined || isEvent(body)) return { kind: 'none' };
  return readingOf(body, [root, ...inside]);
}

/** The usual delivery: a lead whose objects hold no further ones, so that no other lead can be inside. */
function isFlatLead(body: Json, idName: string): boolean {
  if (!isObject(body) || likenessOf(body, idName, true) !== likeness.lead) return false;
  for (const name in body) {
    const inner = body[name];
    if (typeof inner !== 'object' || inner === null) continue;
    for (const key in inner as Members) {
      const value = (inner as Members)[key];
      if (key === idName || (typeof value === 'object' && value !== null)) return false;
    }
  }
  return true;
}

function readingOf(body: Json, readings: readonly Candidate[]): LeadReading {
  const paths = readings.map((candidate) => candidate.path);
  const [path] = paths;
  if (path === undefined) return { kind: 'none' };
  if (paths.length > 1) return { kind: 'several', paths };
  const member = path.length === 0 ? undefined : memberOfDeletion(body, path);
  return member === undefined ? { kind: 'one', path } : { kind: 'deletion', member, path };
}

interface Place {
  readonly path: readonly string[];
  /** Members of objects in the path. */
  readonly members: number;
  /** Below a member that names the past. */
  readonly isPast: boolean;
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
  const objectLikeness = likenessOf(value, idName, path.length === 0);
  if (objectLikeness !== undefined) {
    const pointer = formatPointer(path);
    const places = isPast ? candidates.past : candidates.present;
    const candidate = places.get(pointer);
    if (candidate === undefined) places.set(pointer, { path, likeness: objectLikeness });
    else if (candidate.likeness < objectLikeness) candidate.likeness = objectLikeness;
  }
  if (members === deepest) return;
  for (const [name, inner] of Object.entries(value)) {
    if (typeof inner !== 'object' || inner === null) continue;
    const below = { path: [...path, name], members: members + 1, isPast: isPast || pastName.test(name) };
    collect(inner, below, idName, candidates);
  }
}

function likenessOf(object: Members, idName: string, isBody: boolean): Likeness | undefined {
  if (idIn(object, idName) === undefined) return undefined;
  const { category, contact, createdAt, metadata } = fieldsOf(object);
  const isDated = typeof createdAt === 'string' || typeof createdAt === 'number';
  const score =
    (isObject(contact) ? 2 : 0) +
    (typeof category === 'string' ? 1 : 0) +
    (isDated ? 1 : 0) +
    (isObject(metadata) ? 1 : 0);
  if (score >= 3) return likeness.lead;
  const isRelated = category !== undefined || contact !== undefined;
  const isPerson = isBody && Object.keys(object).some((name) => personName.test(name));
  return isRelated || isPerson ? likeness.related : likeness.identified;
}

/** The id of an object, by its name or by the path that the dots of the name make: `contact.id`. */
export const idIn = (object: Members, idName: string): Json | undefined =>
  object[idName] ?? (idName.includes('.') ? valueAt(object, idName.split('.')) : undefined);

/** Whether the body says that it tells of something that happened. */
function isEvent(body: Json): boolean {
  if (!isObject(body)) return false;
  const { type, object } = body;
  if (object === 'event' || (typeof type === 'string' && /^(?:ping|test)$|[.:]/.test(type))) return true;
  return eventNames.some((name) => typeof body[name] === 'string');
}

/** The member, of the body or of what is on the way to the lead, that says that the lead was deleted. */
function memberOfDeletion(body: Json, path: readonly string[]): string | undefined {
  for (let length = 0; length < path.length; length += 1) {
    const above = valueAt(body, path.slice(0, length));
    if (!isObject(above)) continue;
    const name = [...eventNames, 'type'].find((eventName) => {
      const value = above[eventName];
      return typeof value === 'string' && deletion.test(value);
    });
    if (name !== undefined) return formatPointer([...path.slice(0, length), name]);
  }
  return undefined;
}
