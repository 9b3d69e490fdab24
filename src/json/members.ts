import {
  bufferOf,
  closeBrace,
  closeBracket,
  comma,
  decodeString,
  openBrace,
  openBracket,
  skipSpace,
} from './bytes.ts';
import { noMembersThere, noSuchElement } from './errors.ts';
import { scanner } from './scanner.ts';

/** The position of a value in a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * The value of a member of an object, or of an element of an array, whose name is its index. `from` is the start
 * of a member with its name; an element starts with its value.
 */
export interface MemberSpan extends Span {
  readonly name: string;
  readonly from: number;
}

/**
 * Returns the members of the object or the elements of the array at `start`, repeated names too, at most the first `limit`;
 * none for any other value. The scanner must hold this text, which is valid JSON.
 */
export function membersAt(json: Buffer, start: number, limit = Number.POSITIVE_INFINITY): MemberSpan[] {
  const members: MemberSpan[] = [];
  const isObject = json[start] === openBrace;
  if (!isObject && json[start] !== openBracket) return members;
  const close = isObject ? closeBrace : closeBracket;
  for (let from = pastSpace(json, start + 1); json[from] !== close && members.length < limit;) {
    const nameEnd = isObject ? scanner.valueEnd(from) : from;
    // The byte after the name and its white space is the colon.
    const valueStart = isObject ? pastSpace(json, pastSpace(json, nameEnd) + 1) : from;
    const name = isObject ? decodeString(json, from, nameEnd) : String(members.length);
    const end = scanner.valueEnd(valueStart);
    members.push({ name, from, start: valueStart, end });
    const next = pastSpace(json, end);
    from = json[next] === comma ? pastSpace(json, next + 1) : next;
  }
  return members;
}

const pastSpace = (json: Buffer, offset: number): number => skipSpace(json, offset, json.length);

/** Undefined also where the name is repeated: readers differ in which of its values they take. */
export function onlyMember(members: readonly MemberSpan[], name: string): MemberSpan | undefined {
  const matches = members.filter((member) => member.name === name);
  return matches.length === 1 ? matches[0] : undefined;
}

/**
 * Returns the value at a JSON Pointer, given as its reference tokens; undefined where a name on the way is missing or repeated.
 * The scanner must hold this text, as for `membersAt`.
 */
export function spanAtPointer(json: Buffer, path: readonly string[]): Span | undefined {
  let span: Span | undefined = { start: 0, end: json.length };
  for (const step of path) span = span && onlyMember(membersAt(json, span.start), step);
  return span;
}

/**
 * The values at a path in which `*` steps through arrays: at least one, unless an array on the way is empty.
 * `nothing`: the last step of `path` names no member or element, or a repeated name. `index`: a step is the
 * index of one element in the array at `path`, which has `count` elements. `many`: there are more values than
 * the limit.
 */
export type PatternSpans =
  | { readonly ok: true; readonly spans: readonly Span[] }
  | { readonly ok: false; readonly kind: 'nothing'; readonly path: readonly string[] }
  | { readonly ok: false; readonly kind: 'index'; readonly path: readonly string[]; readonly count: number }
  | { readonly ok: false; readonly kind: 'many' };

/**
 * Finds all values that a path with `*` leads to, from `root` on. An index is refused in an array of more than one element: the
 * leads in the other elements would be lost. The scanner must hold this text, as for `membersAt`.
 */
export function spansAtPattern(
  json: Buffer,
  path: readonly string[],
  root: Span,
  limit = Number.POSITIVE_INFINITY,
): PatternSpans {
  let places: readonly { readonly span: Span; readonly path: readonly string[] }[] = [
    { span: root, path: [] },
  ];
  for (const step of path) {
    const next: { span: Span; path: readonly string[] }[] = [];
    for (const { span, path: above } of places) {
      const isArray = json[span.start] === openBracket;
      const takesAll = isArray && step === '*';
      // The element beyond the limit shows that there are too many.
      const members = membersAt(json, span.start, takesAll ? limit - next.length + 1 : undefined);
      const selected = takesAll ? members : [onlyMember(members, step)];
      if (isArray && !takesAll && members.length > 1 && selected[0] !== undefined)
        return { ok: false, kind: 'index', path: above, count: members.length };
      for (const member of selected) {
        if (member === undefined) return { ok: false, kind: 'nothing', path: [...above, step] };
        next.push({ span: member, path: [...above, member.name] });
      }
      if (next.length > limit) return { ok: false, kind: 'many' };
    }
    places = next;
  }
  return { ok: true, spans: places.map(({ span }) => span) };
}

/** `path` holds names of members and indexes of elements. `value` is JSON text; undefined removes the member. */
export interface MemberChange {
  readonly path: readonly string[];
  readonly value: string | undefined;
}

/**
 * Returns compact JSON with one change; every other byte stays. Objects on the way to a new member are
 * created. Undefined where there is nothing to remove. Throws a `DataError` where the path leads through a
 * value that has no such members.
 */
export function changeMember(json: Uint8Array, { path, value }: MemberChange): Buffer | undefined {
  const text = bufferOf(json);
  scanner.load(text);
  let place: Span = { start: 0, end: text.length };
  for (const [i, step] of path.entries()) {
    const opening = text[place.start];
    if (opening !== openBrace && opening !== openBracket) throw noMembersThere(path.slice(0, i), path);
    // Most readers use the last member of a repeated name.
    const member = membersAt(text, place.start).findLast(({ name }) => name === step);
    if (member === undefined) {
      if (value === undefined) return undefined;
      if (opening === openBracket) throw noSuchElement(path.slice(0, i), step);
      return inserted(text, place, memberText(path.slice(i), value));
    }
    place = member;
    if (i === path.length - 1 && value === undefined) return removed(text, member);
  }
  return spliced(text, place.start, place.end, value ?? '');
}

/** Returns the text of a member with this value, inside new objects for the remaining names. */
const memberText = ([name, ...inner]: readonly string[], value: string): string =>
  `${JSON.stringify(name)}:${inner.length === 0 ? value : `{${memberText(inner, value)}}`}`;

function inserted(text: Buffer, { start }: Span, member: string): Buffer {
  const end = scanner.valueEnd(start) - 1;
  return spliced(text, end, end, text[end - 1] === openBrace ? member : `,${member}`);
}

function removed(text: Buffer, { from, end }: MemberSpan): Buffer {
  const isLast = text[end] === closeBrace || text[end] === closeBracket;
  if (!isLast) return spliced(text, from, end + 1, '');
  return spliced(text, text[from - 1] === comma ? from - 1 : from, end, '');
}

const spliced = (text: Buffer, start: number, end: number, value: string): Buffer =>
  Buffer.concat([text.subarray(0, start), Buffer.from(value, 'utf8'), text.subarray(end)]);
