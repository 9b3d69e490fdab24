import { attributesOf, mayHoldResources } from '../../json/resource.ts';
import { endOfString, type Json } from '../../json/exact.ts';

/** Deeper objects stay JSON in one cell: nesting cannot exhaust the stack or add columns without limit. */
const maxDepth = 6;

type Visit = (path: string, raw: string) => void;

/**
 * Walks the members of one JSON object (valid and compact) and visits each with its dotted path and its own JSON text:
 * numbers keep their digits. An object or an array with members is visited after them when `asked` has its path; elements of
 * an array, such as `tags.0`, are visited only when `asked` has one of them. The attributes of a resource object of JSON:API
 * are visited by their own names.
 */
export function eachMember(json: string, visit: Visit, asked?: FieldPaths): void {
  const isResource = mayHoldResources(json) && attributesOf(JSON.parse(json) as Json) !== undefined;
  walk(json, 0, '', 1, visit, asked, isResource ? 'attributes' : undefined);
}

/** Returns the index after the object or array at `start`. The members of its member `opened` count as its own. */
function walk(
  json: string,
  start: number,
  prefix: string,
  depth: number,
  visit: Visit,
  asked: FieldPaths | undefined,
  opened: string | undefined,
): number {
  const isArray = json[start] === '[';
  let position = start + 1;
  for (let index = 0; json[position] !== '}' && json[position] !== ']'; index += 1) {
    const value = isArray ? position : endOfString(json, position + 1) + 1;
    const path = prefix + (isArray ? String(index) : readString(json.slice(position, value - 1)));
    if (path === opened) {
      // The members of this one may be asked for by their whole paths as well.
      if (asked?.isAbove(path) === true) walk(json, value, `${path}.`, depth + 1, visit, asked, undefined);
      const end = walk(json, value, '', depth, visit, asked, undefined);
      if (asked?.has(path) === true) visit(path, json.slice(value, end));
      position = json[end] === ',' ? end + 1 : end;
      continue;
    }
    const nested = depth < maxDepth && isEntered(json, value, path, asked);
    const end = nested
      ? walk(json, value, `${path}.`, depth + 1, visit, asked, undefined)
      : endOfValue(json, value);
    if (!nested || asked?.has(path) === true) visit(path, json.slice(value, end));
    position = json[end] === ',' ? end + 1 : end;
  }
  return position + 1;
}

function isEntered(json: string, value: number, path: string, asked: FieldPaths | undefined): boolean {
  if (json[value] === '{') return json[value + 1] !== '}';
  return json[value] === '[' && asked?.isAbove(path) === true;
}

/**
 * Visits the members that are asked for, each with its own JSON text, and returns the object without them: undefined where
 * nothing is left. An array of which an element is asked for stays whole.
 */
export function splitMembers(json: string, asked: FieldPaths, visit: Visit): string | undefined {
  const isResource = mayHoldResources(json) && attributesOf(JSON.parse(json) as Json) !== undefined;
  return split(json, 0, [''], { asked, visit, opened: isResource ? 'attributes' : undefined }).rest;
}

interface SplitOptions {
  readonly asked: FieldPaths;
  readonly visit: Visit;
  /** The member whose members count as those of the whole. */
  readonly opened: string | undefined;
}

/** Splits the object or array at `start`, whose members have these `prefixes`. `rest`: its text without what was asked for. */
function split(
  json: string,
  start: number,
  prefixes: readonly string[],
  options: SplitOptions,
): { readonly rest: string | undefined; readonly end: number } {
  const { asked, visit, opened } = options;
  const isArray = json[start] === '[';
  const unasked: string[] = [];
  let position = start + 1;
  for (let index = 0; json[position] !== '}' && json[position] !== ']'; index += 1) {
    const value = isArray ? position : endOfString(json, position + 1) + 1;
    const name = isArray ? String(index) : readString(json.slice(position, value - 1));
    const paths = prefixes.map((prefix) => prefix + name);
    const isOpened = name === opened;
    const isEntered = /^[{[][^}\]]/.test(json.slice(value, value + 2));
    const { rest, end } =
      isEntered && (isOpened || paths.some((path) => asked.isAbove(path)))
        ? split(json, value, isOpened ? ['', `${name}.`] : paths.map((path) => `${path}.`), {
            ...options,
            opened: undefined,
          })
        : wholeValue(json, value);
    const askedPaths = paths.filter((path) => asked.has(path));
    for (const path of askedPaths) visit(path, json.slice(value, end));
    if (rest !== undefined && askedPaths.length === 0) unasked.push(json.slice(position, value) + rest);
    position = json[end] === ',' ? end + 1 : end;
  }
  const end = position + 1;
  if (isArray) return { rest: json.slice(start, end), end };
  return { rest: unasked.length === 0 ? undefined : `{${unasked.join(',')}}`, end };
}

function wholeValue(json: string, start: number): { readonly rest: string; readonly end: number } {
  const end = endOfValue(json, start);
  return { rest: json.slice(start, end), end };
}

/** A JSON value as a cell: text without quotes, null as an empty cell, anything else as it is. */
export function cellText(raw: string): string {
  if (raw.startsWith('"')) return readString(raw);
  return raw === 'null' ? '' : raw;
}

/** Whether a text holds half of a character, which is escaped in JSON, and of which UTF-8 makes U+FFFD. */
export const holdsHalf = (text: string): boolean => /\p{Cs}/u.test(text);

function readString(raw: string): string {
  return raw.includes('\\') ? (JSON.parse(raw) as string) : raw.slice(1, -1);
}

function endOfValue(json: string, start: number): number {
  if (json[start] === '"') return endOfString(json, start + 1);
  const structural = /["{}[\],]/g;
  let depth = 0;
  for (let at = start; ;) {
    structural.lastIndex = at;
    const found = structural.exec(json);
    if (found === null) return json.length;
    const { index } = found;
    const [sign] = found;
    if (sign === '"') {
      at = endOfString(json, index + 1);
      continue;
    }
    if (sign === '{' || sign === '[') depth += 1;
    else if (depth === 0) return index;
    else if (sign !== ',') {
      depth -= 1;
      if (depth === 0) return index + 1;
    }
    at = index + 1;
  }
}

/** Some dotted paths of fields, such as `contact.email` or `tags.0`, asked for by name. */
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

  /** Whether a field inside the one at `path` was asked for. */
  isAbove(path: string): boolean {
    return this.#above.has(path);
  }
}
