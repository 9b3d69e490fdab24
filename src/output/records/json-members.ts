import { endOfString, type Json } from '../../json/exact.ts';
import { attributesOf, mayHoldResources } from '../../json/resource.ts';

/** Objects in deeper ones stay JSON: nesting must not exhaust the stack or fill the screen. */
const maxDepth = 6;

/** Receives the name of a member and the positions of the member and its value; returns the position after the value. */
type OnMember = (name: string, from: number, value: number) => number;

/**
 * Walks the members of the object or the elements of the array at `start` of valid compact JSON; returns the position after
 * it. It reads a text, unlike `json/members.ts`: to decode a record once costs less than to decode each of its values.
 */
function walk(json: string, start: number, onMember: OnMember): number {
  const isArray = json[start] === '[';
  let from = start + 1;
  for (let index = 0; json[from] !== '}' && json[from] !== ']'; index += 1) {
    const value = isArray ? from : endOfString(json, from + 1) + 1;
    const name = isArray ? String(index) : readString(json.slice(from, value - 1));
    const end = onMember(name, from, value);
    from = json[end] === ',' ? end + 1 : end;
  }
  return from + 1;
}

function endOfValue(json: string, start: number): number {
  if (json[start] === '"') return endOfString(json, start + 1);
  const sign = /["{}[\],]/g;
  sign.lastIndex = start;
  for (let depth = 0, match = sign.exec(json); match !== null; match = sign.exec(json)) {
    if (match[0] === '"') sign.lastIndex = endOfString(json, sign.lastIndex);
    else if (match[0] === '{' || match[0] === '[') depth += 1;
    else if (depth === 0) return match.index;
    else if (match[0] !== ',') depth -= 1;
    if (depth === 0) return sign.lastIndex;
  }
  return json.length;
}

const isFilled = (json: string, start: number): boolean =>
  (json[start] === '{' && json[start + 1] !== '}') || (json[start] === '[' && json[start + 1] !== ']');

/** The member whose members count as those of the record: the attributes of a resource object of JSON:API. */
const openedMember = (json: string): string | undefined =>
  mayHoldResources(json) && attributesOf(JSON.parse(json) as Json) !== undefined ? 'attributes' : undefined;

type Visit = (path: string, raw: string) => void;

/** Visits the values of a compact JSON object. Arrays and empty objects are values. */
export function eachValue(json: string, visit: Visit): void {
  const opened = openedMember(json);
  const visitWithin = (start: number, prefix: string, depth: number): number =>
    walk(json, start, (name, _, value) => {
      const path = prefix + name;
      const isEntered = json[value] === '{' && isFilled(json, value) && depth < maxDepth;
      if (isEntered) return visitWithin(value, path === opened ? '' : `${path}.`, depth + 1);
      const end = endOfValue(json, value);
      visit(path, json.slice(value, end));
      return end;
    });
  visitWithin(0, '', 1);
}

/**
 * Visits the members of a compact JSON object that `fields` names. The attributes of a resource object of JSON:API are found
 * by their own names too.
 */
export function visitMembers(json: string, fields: FieldPaths, visit: Visit): void {
  split(json, 0, { fields, visit, opened: openedMember(json), keepsRest: false, prefix: '' });
}

/**
 * Does the same, and returns the object without these members; undefined where it is empty then. An array of which an
 * element is visited stays whole.
 */
export const splitMembers = (json: string, fields: FieldPaths, visit: Visit): string | undefined =>
  split(json, 0, { fields, visit, opened: openedMember(json), keepsRest: true, prefix: '' }).rest;

interface SplitOptions {
  readonly fields: FieldPaths;
  readonly visit: Visit;
  readonly opened?: string | undefined;
  readonly keepsRest: boolean;
  /** The start of the paths of these members; inside the opened member they have two paths. */
  readonly prefix: string;
  readonly secondPrefix?: string | undefined;
}

function split(
  json: string,
  start: number,
  options: SplitOptions,
): { readonly rest: string | undefined; readonly end: number } {
  const { fields, visit, opened, keepsRest, prefix, secondPrefix } = options;
  const remaining: string[] = [];
  const end = walk(json, start, (name, from, value) => {
    const path = prefix + name;
    const secondPath = secondPrefix === undefined ? path : secondPrefix + name;
    const isOpened = name === opened;
    const isEntered =
      isFilled(json, value) && (isOpened || fields.isAbove(path) || fields.isAbove(secondPath));
    const inner = isEntered
      ? split(json, value, {
          ...{ fields, visit, keepsRest },
          prefix: isOpened ? '' : `${path}.`,
          secondPrefix: isOpened ? `${name}.` : secondPrefix && `${secondPath}.`,
        })
      : undefined;
    const valueEnd = inner?.end ?? endOfValue(json, value);
    const remainder = inner === undefined ? json.slice(value, valueEnd) : inner.rest;
    const isVisited = fields.has(path);
    const isVisitedAgain = secondPath !== path && fields.has(secondPath);
    if (isVisited) visit(path, json.slice(value, valueEnd));
    if (isVisitedAgain) visit(secondPath, json.slice(value, valueEnd));
    if (keepsRest && remainder !== undefined && !isVisited && !isVisitedAgain)
      remaining.push(json.slice(from, value) + remainder);
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

/** A set of dotted paths of fields, such as `contact.email` or `tags.0`. */
export class FieldPaths {
  readonly #paths: ReadonlySet<string>;
  readonly #above = new Set<string>();

  constructor(paths: readonly string[]) {
    this.#paths = new Set(paths);
    for (const path of paths) {
      for (let dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) {
        this.#above.add(path.slice(0, dot));
      }
    }
  }

  has(path: string): boolean {
    return this.#paths.has(path);
  }

  isAbove(path: string): boolean {
    return this.#above.has(path);
  }
}

interface Branch {
  readonly path: string;
  readonly children: Map<string, Branch>;
}

interface Found {
  readonly values: ReadonlyMap<string, string>;
  readonly arrays: ReadonlySet<string>;
}

/**
 * Reduces a record to some dotted paths, in their order and in the record's own shape. Values keep their
 * text, and missing paths are omitted. An element of an array keeps its index, with null for the elements
 * before it.
 */
export function projectFields(fields: readonly string[]): (json: string) => string {
  const root: Branch = { path: '', children: new Map() };
  for (const field of fields) addPath(root, field.split('.'));
  const fieldPaths = new FieldPaths([...fields, ...arrayPaths(fields)]);
  const names = new Set(fields);
  return (json) => {
    const values = new Map<string, string>();
    const arrays = new Set<string>();
    visitMembers(json, fieldPaths, (path, raw) => {
      if (names.has(path)) values.set(path, raw);
      else if (raw.startsWith('[')) arrays.add(path);
    });
    return render(root, { values, arrays }) ?? '{}';
  };
}

const arrayPaths = (fields: readonly string[]): string[] =>
  fields.flatMap((field) => [...field.matchAll(/\.\d+(?=\.|$)/g)].map(({ index }) => field.slice(0, index)));

function addPath(branch: Branch, [name, ...inner]: readonly string[]): void {
  if (name === undefined) return;
  const path = branch.path === '' ? name : `${branch.path}.${name}`;
  const child = branch.children.get(name) ?? { path, children: new Map<string, Branch>() };
  branch.children.set(name, child);
  addPath(child, inner);
}

function render({ path, children }: Branch, projection: Found): string | undefined {
  const whole = projection.values.get(path);
  if (whole !== undefined || children.size === 0) return whole;
  const members = [...children].flatMap(([name, child]) => {
    const value = render(child, projection);
    return value === undefined ? [] : [[name, value] as const];
  });
  if (members.length === 0) return undefined;
  if (!projection.arrays.has(path)) {
    return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
  }
  const elements: (string | undefined)[] = [];
  for (const [index, value] of members) elements[Number(index)] = value;
  return `[${Array.from(elements, (element) => element ?? 'null').join(',')}]`;
}
