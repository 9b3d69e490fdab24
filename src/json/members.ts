import { closeBrace, closeBracket, comma, openBrace, openBracket, skipSpace } from './bytes.ts';
import { decodeString, scanner } from './scanner.ts';

/** The position of a value in a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A member of an object, or an element of an array, whose name is its index. */
export interface Member extends Span {
  readonly name: string;
  /** The start of the member with its name. */
  readonly from: number;
}

/**
 * Returns the members of the object or the elements of the array at `start`, repeated names too, at most `limit`; none for
 * any other value. The scanner must hold this text, which is valid JSON.
 */
export function membersAt(json: Buffer, start: number, limit = Number.POSITIVE_INFINITY): Member[] {
  const members: Member[] = [];
  const isObject = json[start] === openBrace;
  if (!isObject && json[start] !== openBracket) return members;
  const close = isObject ? closeBrace : closeBracket;
  for (let from = pastSpace(json, start + 1); json[from] !== close && members.length < limit;) {
    const nameEnd = isObject ? scanner.valueEnd(from) : from;
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

export function onlyMember(members: readonly Member[], name: string): Member | undefined {
  const matches = members.filter((member) => member.name === name);
  return matches.length === 1 ? matches[0] : undefined;
}

/** Returns the value at a JSON Pointer, given as its reference tokens. The scanner must hold this text, as for `membersAt`. */
export const spanAt = (json: Buffer, path: readonly string[]): Span | undefined =>
  path.reduce<Span | undefined>((span, step) => span && onlyMember(membersAt(json, span.start), step), {
    start: 0,
    end: json.length,
  });

/** The values at a path in which `*` steps through arrays, or the part of it that cannot be followed. */
export type SpansAt =
  | { readonly ok: true; readonly spans: readonly Span[] }
  | { readonly ok: false; readonly kind: 'nothing'; readonly path: readonly string[] }
  /** The path is that of the array, which has `count` elements. */
  | { readonly ok: false; readonly kind: 'index'; readonly path: readonly string[]; readonly count: number }
  | { readonly ok: false; readonly kind: 'many' };

/**
 * Finds all values that a path with `*` leads to. An index is refused where the array has more elements. The scanner must
 * hold this text, as for `membersAt`.
 */
export function spansAt(
  json: Buffer,
  path: readonly string[],
  root: Span,
  limit = Number.POSITIVE_INFINITY,
): SpansAt {
  let places: readonly { readonly span: Span; readonly path: readonly string[] }[] = [
    { span: root, path: [] },
  ];
  for (const step of path) {
    const next: { span: Span; path: readonly string[] }[] = [];
    for (const { span, path: above } of places) {
      const isArray = json[span.start] === openBracket;
      const takesAll = isArray && step === '*';
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
