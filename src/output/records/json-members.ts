import { endOfString, type Json } from '../../json/exact.ts';
import { attributesOf, mayHoldResources } from '../../json/resource.ts';

/*
 * Reads the fields of a record from its JSON text without building objects, so that a value keeps the bytes that the service
 * sent. All functions expect valid compact JSON. A field is named by its path, such as `contact.email` or `tags.0`.
 */

/** Objects inside this many others are not entered, but are one value: nesting must not exhaust the stack or fill the screen. */
const maxDepth = 6;

/** Receives a member with the positions of its name and its value; returns the position after the value. */
type OnMember = (name: string, start: number, valueStart: number) => number;

/**
 * Walks the members of the object or the elements of the array at `start`; returns the position after it. An element has its
 * index as name, and its value begins where it begins. This reads a text, unlike `json/members.ts`: to decode a record once
 * costs less than to decode each of its values.
 */
function walk(json: string, start: number, onMember: OnMember): number {
  const isArray = json[start] === '[';
  let position = start + 1;
  for (let index = 0; json[position] !== '}' && json[position] !== ']'; index += 1) {
    const valueStart = isArray ? position : endOfString(json, position + 1) + 1;
    const name = isArray ? String(index) : readString(json.slice(position, valueStart - 1));
    const end = onMember(name, position, valueStart);
    position = json[end] === ',' ? end + 1 : end;
  }
  return position + 1;
}

function endOfValue(json: string, start: number): number {
  if (json[start] === '"') return endOfString(json, start + 1);
  const delimiter = /["{}[\],]/g;
  delimiter.lastIndex = start;
  for (let depth = 0, match = delimiter.exec(json); match !== null; match = delimiter.exec(json)) {
    const [character] = match;
    if (character === '"') delimiter.lastIndex = endOfString(json, delimiter.lastIndex);
    else if (character === '{' || character === '[') depth += 1;
    // A number, true, false or null ends before the comma or bracket of what contains it.
    else if (depth === 0) return match.index;
    else if (character !== ',') depth -= 1;
    if (depth === 0) return delimiter.lastIndex;
  }
  return json.length;
}

const isFilled = (json: string, start: number): boolean =>
  (json[start] === '{' && json[start + 1] !== '}') || (json[start] === '[' && json[start + 1] !== ']');

/** The member whose own members count as fields of the record: the attributes of a resource object of JSON:API. */
const transparentMember = (json: string): string | undefined =>
  mayHoldResources(json) && attributesOf(JSON.parse(json) as Json) !== undefined ? 'attributes' : undefined;

type Visit = (path: string, json: string) => void;

/** Visits every field of an object. Arrays and empty objects are visited as one value. */
export function eachValue(json: string, visit: Visit): void {
  const transparent = transparentMember(json);
  const visitBelow = (start: number, prefix: string, depth: number): number =>
    walk(json, start, (name, _, valueStart) => {
      const path = prefix + name;
      const isEntered = json[valueStart] === '{' && isFilled(json, valueStart) && depth < maxDepth;
      if (isEntered) return visitBelow(valueStart, path === transparent ? '' : `${path}.`, depth + 1);
      const end = endOfValue(json, valueStart);
      visit(path, json.slice(valueStart, end));
      return end;
    });
  visitBelow(0, '', 1);
}

/**
 * Visits the fields of an object that `fields` names. The attributes of a resource object of JSON:API are found by their own
 * names too.
 */
export function visitMembers(json: string, fields: FieldPaths, visit: Visit): void {
  visitNamed({ json, fields, visit, returnsRest: false }, 0, rootOf(json));
}

/**
 * Visits the same fields as `visitMembers`, and returns the object without them; undefined where nothing remains. An array of
 * which an element is visited stays whole, since without the element the others would have another index.
 */
export const splitMembers = (json: string, fields: FieldPaths, visit: Visit): string | undefined =>
  visitNamed({ json, fields, visit, returnsRest: true }, 0, rootOf(json)).rest;

interface FieldSearch {
  readonly json: string;
  readonly fields: FieldPaths;
  readonly visit: Visit;
  readonly returnsRest: boolean;
}

/**
 * An object or array of the record. The paths of its members begin with `prefix`, and inside the transparent member with
 * `secondPrefix` as well: a field is named `email` and also `attributes.email`. Only the record itself, whose prefix is empty,
 * names its `transparent` member.
 */
interface Place {
  readonly prefix: string;
  readonly secondPrefix?: string | undefined;
  readonly transparent?: string | undefined;
}

const rootOf = (json: string): Place => ({ prefix: '', transparent: transparentMember(json) });

/** Returns the end of the object or array at `start`, and with `returnsRest` its text without the visited fields. */
function visitNamed(
  search: FieldSearch,
  start: number,
  { prefix, secondPrefix, transparent }: Place,
): { readonly rest: string | undefined; readonly end: number } {
  const { json, fields, visit, returnsRest } = search;
  const remaining: string[] = [];
  const end = walk(json, start, (name, memberStart, valueStart) => {
    const path = prefix + name;
    const secondPath = secondPrefix === undefined ? path : secondPrefix + name;
    const isTransparent = name === transparent;
    const holdsFields = isTransparent || fields.isParent(path) || fields.isParent(secondPath);
    const inner =
      holdsFields && isFilled(json, valueStart)
        ? visitNamed(search, valueStart, {
            prefix: isTransparent ? '' : `${path}.`,
            secondPrefix: isTransparent ? `${name}.` : secondPrefix && `${secondPath}.`,
          })
        : undefined;
    const valueEnd = inner?.end ?? endOfValue(json, valueStart);
    const remainder = inner === undefined ? json.slice(valueStart, valueEnd) : inner.rest;
    const isField = fields.has(path);
    const isSecondField = secondPath !== path && fields.has(secondPath);
    if (isField) visit(path, json.slice(valueStart, valueEnd));
    if (isSecondField) visit(secondPath, json.slice(valueStart, valueEnd));
    if (returnsRest && remainder !== undefined && !isField && !isSecondField)
      remaining.push(json.slice(memberStart, valueStart) + remainder);
    return valueEnd;
  });
  if (json[start] === '[') return { rest: json.slice(start, end), end };
  return { rest: remaining.length === 0 ? undefined : `{${remaining.join(',')}}`, end };
}

/** Returns a JSON value as a cell: text without quotes, null as an empty cell, anything else unchanged. */
export function cellText(raw: string): string {
  if (raw.startsWith('"')) return readString(raw);
  return raw === 'null' ? '' : raw;
}

function readString(raw: string): string {
  return raw.includes('\\') ? (JSON.parse(raw) as string) : raw.slice(1, -1);
}

/** The paths of some fields; their parents are the objects and arrays on the way to them. */
export class FieldPaths {
  readonly #paths: ReadonlySet<string>;
  readonly #parents = new Set<string>();

  constructor(paths: readonly string[]) {
    this.#paths = new Set(paths);
    for (const path of paths) {
      for (let dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) {
        this.#parents.add(path.slice(0, dot));
      }
    }
  }

  has(path: string): boolean {
    return this.#paths.has(path);
  }

  isParent(path: string): boolean {
    return this.#parents.has(path);
  }
}
