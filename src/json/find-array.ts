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
import { incomplete, invalidAt, scanner, unexpectedAt } from './scanner.ts';

/** The place of the records: reference tokens of a JSON Pointer, or `auto` for the usual names. */
export type ArrayPlace = readonly string[] | 'auto';

/**
 * `start` is the position after the bracket that opens the array. `incomplete`: the text ended before the array was
 * met. `invalid`: the byte at `offset` is not JSON. `none`: the document, which ends at `end`, does not hold
 * the array; `emptyPath` is that of an empty array which has a name for leads, and `otherPaths` are those of
 * other arrays of objects, which may hold the leads.
 */
export type ArraySearch =
  | { readonly kind: 'array'; readonly start: number; readonly path: readonly string[] }
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'invalid'; readonly offset: number }
  | {
      readonly kind: 'none';
      readonly end: number;
      readonly emptyPath: readonly string[] | undefined;
      readonly otherPaths: readonly (readonly string[])[];
    };

const arrayNames: readonly string[] = ['data', 'leads', 'items', 'results', 'records'];
const wrapperNames: readonly string[] = [...arrayNames, '_embedded', 'response', 'result', 'payload'];

/** In these places `auto` takes the first array of objects that it meets. */
export const usualPlaces: readonly (readonly string[])[] = [
  ...arrayNames.map((name) => [name]),
  ...wrapperNames.flatMap((wrapper) => arrayNames.map((name) => [wrapper, name])),
];

/**
 * An array of leads may have such a name, and many other arrays too. A filled one is only reported among
 * `otherPaths`, since a usual place may follow it.
 */
const ambiguousNames = ['content', 'value', 'docs', 'hits', 'rows', 'elements', 'nodes', 'edges', 'list'];
/** Arrays of objects with these names never hold leads, so they are not reported. */
const neverLeads = 'errors error warnings messages links _links included facets filters'.split(' ');

const maxPathLength = 4;

export const hasAmbiguousName = (path: readonly string[]): boolean =>
  ambiguousNames.includes(path.at(-1) ?? '');

/** A place such as `result.data.leads` is deeper than a usual one, and still clear. */
const isNestedUsual = (path: readonly string[]): boolean =>
  arrayNames.includes(path.at(-1) ?? '') && path.every((name) => wrapperNames.includes(name));

/**
 * Finds the array of records in an answer of which a part may not have arrived. `auto` takes the answer
 * itself, or the first array of objects in a usual place; without any, it reports other arrays.
 */
export function findArray(buf: Buffer, place: ArrayPlace): ArraySearch {
  scanner.load(buf);
  const walk = new ArrayWalk(buf, place);
  const end = walk.value(skipSpace(buf, 0, buf.length), []);
  if (walk.target !== undefined) return { kind: 'array', ...walk.target };
  if (end === incomplete) return { kind: 'incomplete' };
  if (end < incomplete) return { kind: 'invalid', offset: unexpectedAt(end) };
  const { emptyUsual, emptyOther, otherPaths } = walk;
  const emptyPath = emptyUsual ?? (otherPaths.length === 0 ? emptyOther : undefined);
  return { kind: 'none', end, emptyPath, otherPaths };
}

/**
 * Walks the members of an answer in their order, until the array is found. It checks the grammar itself,
 * because the text may be incomplete or invalid.
 */
class ArrayWalk {
  target: { readonly start: number; readonly path: readonly string[] } | undefined;
  emptyUsual: readonly string[] | undefined;
  emptyOther: readonly string[] | undefined;
  readonly otherPaths: (readonly string[])[] = [];
  readonly #buf: Buffer;
  readonly #place: ArrayPlace;

  constructor(buf: Buffer, place: ArrayPlace) {
    this.#buf = buf;
    this.#place = place;
  }

  /**
   * Returns the position after the value at `offset`, or a negative result of the scanner. Where it sets
   * `target`, it returns `incomplete`, so that the walk ends.
   */
  value(offset: number, path: readonly string[]): number {
    const byte = this.#buf[offset];
    if (byte === undefined) return incomplete;
    if (byte === openBracket) {
      const firstByte = this.#buf[this.#pastSpace(offset + 1)];
      if (this.#isTarget(path, firstByte)) {
        this.target = { start: offset + 1, path };
        return incomplete;
      }
      if (this.#place === 'auto') {
        if (firstByte === undefined) return incomplete;
        this.#rememberForReport(path, firstByte);
      }
    }
    const isEntered = byte === openBrace || (byte === openBracket && this.#place !== 'auto');
    return isEntered && this.#mayContainTarget(path)
      ? this.#membersOrElements(offset, path)
      : scanner.valueEnd(offset);
  }

  #isTarget(path: readonly string[], firstByte: number | undefined): boolean {
    if (this.#place !== 'auto') return isSamePath(path, this.#place);
    return path.length === 0 || (isInUsualPlace(path) && firstByte === openBrace);
  }

  #rememberForReport(path: readonly string[], firstByte: number): void {
    const isEmpty = firstByte === closeBracket;
    if (isInUsualPlace(path)) {
      if (isEmpty) this.emptyUsual ??= path;
    } else if (isEmpty && (hasAmbiguousName(path) || isNestedUsual(path))) {
      this.emptyOther ??= path;
    } else if (firstByte === openBrace && !neverLeads.includes(path.at(-1) ?? '')) {
      this.otherPaths.push(path);
    }
  }

  #mayContainTarget(path: readonly string[]): boolean {
    if (this.#place === 'auto') return path.length < maxPathLength;
    return path.length < this.#place.length && isSamePath(path, this.#place.slice(0, path.length));
  }

  #membersOrElements(offset: number, path: readonly string[]): number {
    const isObject = this.#buf[offset] === openBrace;
    const close = isObject ? closeBrace : closeBracket;
    let i = this.#pastSpace(offset + 1);
    if (this.#buf[i] === close) return i + 1;
    for (let index = 0; ; index += 1) {
      let name = String(index);
      if (isObject) {
        if (this.#buf[i] !== quote) return this.#unexpected(i);
        const nameEnd = scanner.valueEnd(i);
        if (nameEnd < 0) return nameEnd;
        name = decodeString(this.#buf, i, nameEnd);
        i = this.#pastSpace(nameEnd);
        if (this.#buf[i] !== colon) return this.#unexpected(i);
        i = this.#pastSpace(i + 1);
      }
      const end = this.value(i, [...path, name]);
      if (end < 0) return end;
      i = this.#pastSpace(end);
      if (this.#buf[i] === close) return i + 1;
      if (this.#buf[i] !== comma) return this.#unexpected(i);
      i = this.#pastSpace(i + 1);
    }
  }

  #pastSpace(offset: number): number {
    return skipSpace(this.#buf, offset, this.#buf.length);
  }

  #unexpected(offset: number): number {
    return offset < this.#buf.length ? invalidAt(offset) : incomplete;
  }
}

const isInUsualPlace = (path: readonly string[]): boolean =>
  usualPlaces.some((place) => isSamePath(place, path));

export const isSamePath = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((step, i) => step === b[i]);
