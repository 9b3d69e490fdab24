import {
  closeBrace,
  closeBracket,
  colon,
  comma,
  decodeString,
  openBrace,
  openBracket,
  quote,
  skipSpace,
} from './bytes.ts';
import { isObject, type Json, valueAt } from './exact.ts';
import { incomplete, invalidAt, scanner, unexpectedAt } from './scanner.ts';

/** The place of the records: reference tokens of a JSON Pointer, or `auto` for the usual names. */
export type ArrayPlace = readonly string[] | 'auto';

export type FoundArray =
  /** `start` is the position after the opening bracket. */
  | { readonly kind: 'array'; readonly start: number; readonly path: readonly string[] }
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'invalid'; readonly offset: number }
  /**
   * The document ended. `empty` is an empty array in a usual place; `arrays` are arrays of objects in other
   * places.
   */
  | {
      readonly kind: 'none';
      readonly end: number;
      readonly empty: readonly string[] | undefined;
      readonly arrays: readonly (readonly string[])[];
    };

const usualNames: readonly string[] = ['data', 'leads', 'items', 'results', 'records'];
const usualWrappers: readonly string[] = [...usualNames, '_embedded', 'response', 'result', 'payload'];

/**
 * Other things have these names too: `auto` accepts them, at any depth, where no usual place holds an array.
 */
const otherNames: readonly string[] = [
  'content',
  'value',
  'docs',
  'hits',
  'rows',
  'elements',
  'nodes',
  'edges',
  'list',
];
const neverLeads: readonly string[] = [
  'errors',
  'error',
  'warnings',
  'messages',
  'links',
  '_links',
  'included',
  'facets',
  'filters',
];
const deepest = 4;

export const hasOtherName = (path: readonly string[]): boolean => otherNames.includes(path.at(-1) ?? '');

/** `auto` accepts an array of objects in these places. */
export const usualPlaces: readonly (readonly string[])[] = [
  ...usualNames.map((name) => [name]),
  ...usualWrappers.flatMap((wrapper) => usualNames.map((name) => [wrapper, name])),
];

/** A place such as `result.data.leads` is deeper than a usual one, and still clear. */
const isNestedUsual = (path: readonly string[]): boolean =>
  usualNames.includes(path.at(-1) ?? '') && path.every((name) => usualWrappers.includes(name));

export function findArray(buf: Buffer, target: ArrayPlace): FoundArray {
  scanner.load(buf);
  const search = new Search(buf, target);
  const end = search.value(skipSpace(buf, 0, buf.length), []);
  if (search.start !== undefined) return { kind: 'array', start: search.start, path: search.path };
  if (end === incomplete) return { kind: 'incomplete' };
  if (end < incomplete) return { kind: 'invalid', offset: unexpectedAt(end) };
  return {
    kind: 'none',
    end,
    empty: search.empty ?? (search.arrays.length === 0 ? search.emptyOther : undefined),
    arrays: search.arrays,
  };
}

class Search {
  start: number | undefined;
  path: readonly string[] = [];
  empty: readonly string[] | undefined;
  emptyOther: readonly string[] | undefined;
  readonly arrays: (readonly string[])[] = [];
  readonly #buf: Buffer;
  readonly #limit: number;
  readonly #target: ArrayPlace;

  constructor(buf: Buffer, target: ArrayPlace) {
    this.#buf = buf;
    this.#limit = buf.length;
    this.#target = target;
  }

  /** Returns the position after the value at `offset`; `incomplete` also when the target was found. */
  value(offset: number, path: readonly string[]): number {
    const byte = this.#buf[offset];
    if (offset >= this.#limit) return incomplete;
    if (byte === openBracket) {
      const end = this.#array(offset, path);
      if (end !== undefined) return end;
    }
    if (byte === openBrace && this.#mayContainTarget(path))
      return this.#children(offset + 1, path, closeBrace);
    if (byte === openBracket && this.#target !== 'auto' && this.#mayContainTarget(path)) {
      return this.#children(offset + 1, path, closeBracket);
    }
    return scanner.valueEnd(offset);
  }

  #array(offset: number, path: readonly string[]): number | undefined {
    if (this.#target !== 'auto') {
      return isSame(path, this.#target) ? this.#take(offset + 1, path) : undefined;
    }
    if (path.length === 0) return this.#take(offset + 1, path);
    const first = skipSpace(this.#buf, offset + 1, this.#limit);
    if (first >= this.#limit) return incomplete;
    if (usualPlaces.some((place) => isSame(place, path))) {
      if (this.#buf[first] === openBrace) return this.#take(offset + 1, path);
      if (this.#buf[first] === closeBracket) this.empty ??= path;
    } else if ((hasOtherName(path) || isNestedUsual(path)) && this.#buf[first] === closeBracket) {
      this.emptyOther ??= path;
    } else if (this.#buf[first] === openBrace && !neverLeads.includes(path.at(-1) ?? '')) {
      this.arrays.push(path);
    }
    return undefined;
  }

  #take(start: number, path: readonly string[]): number {
    this.start = start;
    this.path = path;
    return incomplete;
  }

  #mayContainTarget(path: readonly string[]): boolean {
    if (this.#target === 'auto') return path.length < deepest;
    return path.length < this.#target.length && isSame(path, this.#target.slice(0, path.length));
  }

  #children(offset: number, path: readonly string[], close: number): number {
    let i = skipSpace(this.#buf, offset, this.#limit);
    if (this.#buf[i] === close && i < this.#limit) return i + 1;
    for (let index = 0; ; index += 1) {
      let name = String(index);
      if (close === closeBrace) {
        if (i >= this.#limit) return incomplete;
        if (this.#buf[i] !== quote) return invalidAt(i);
        const nameEnd = scanner.valueEnd(i);
        if (nameEnd < 0) return nameEnd;
        name = decodeString(this.#buf, i, nameEnd);
        i = skipSpace(this.#buf, nameEnd, this.#limit);
        if (i >= this.#limit) return incomplete;
        if (this.#buf[i] !== colon) return invalidAt(i);
        i = skipSpace(this.#buf, i + 1, this.#limit);
      }
      const end = this.value(i, [...path, name]);
      if (end < 0) return end;
      i = skipSpace(this.#buf, end, this.#limit);
      if (i >= this.#limit) return incomplete;
      if (this.#buf[i] === close) return i + 1;
      if (this.#buf[i] !== comma) return invalidAt(i);
      i = skipSpace(this.#buf, i + 1, this.#limit);
    }
  }
}

/** A page of a list has these relations, and another resource has further ones. */
const pageRelations = ['self', 'first', 'prev', 'previous', 'next', 'last', 'curies', 'profile', 'search'];

/** Members that tell of a page; any other one may be a field of a single lead. */
const pageMember = /^(_links|page|meta|pagination|total\w*|count|size|limit|offset|per_?page)$/i;

/**
 * Finds the place of the missing array in an answer that may be an empty page: a null in its place, an empty
 * object, or HAL without `_embedded`. `isCertain`: HAL whose links are those of a page, with nothing but what tells of one.
 */
export function absentArray(
  root: Json,
  target: ArrayPlace,
): { readonly path: readonly string[]; readonly isCertain: boolean } | undefined {
  if (!isObject(root)) return root === null ? { path: ['data'], isCertain: false } : undefined;
  const { errors, _links: links } = root;
  if (Array.isArray(errors) && errors.length > 0) return undefined;
  const isEmpty = Object.keys(root).length === 0;
  const places: readonly (readonly string[])[] =
    target === 'auto' ? usualPlaces : target.map((_, depth) => target.slice(0, depth + 1));
  const isNull = places.find((place) => valueAt(root, place) === null);
  if (isNull !== undefined || isEmpty) return { path: isNull ?? ['data'], isCertain: false };
  if (!isObject(links)) return undefined;
  const relations = Object.keys(links);
  const isPage = relations.length > 0 && relations.every((name) => pageRelations.includes(name));
  return {
    path: ['_embedded'],
    isCertain: isPage && Object.keys(root).every((name) => pageMember.test(name)),
  };
}

export const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((step, i) => step === b[i]);
