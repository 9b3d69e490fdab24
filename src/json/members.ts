import { closeBrace, closeBracket, comma, openBrace, openBracket, skipSpace } from './bytes.ts';
import { decodeString, scanner } from './scanner.ts';

/** The position of a value in a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Member extends Span {
  readonly name: string;
}

/** The members of an object, repeated names too. The scanner must hold this text, which is valid. */
export function membersAt(json: Buffer, start: number): Member[] {
  const members: Member[] = [];
  if (json[start] !== openBrace) return members;
  for (let i = pastSpace(json, start + 1); json[i] !== closeBrace && i < json.length;) {
    const nameEnd = scanner.valueEnd(i);
    const valueStart = pastSpace(json, pastSpace(json, nameEnd) + 1);
    const end = scanner.valueEnd(valueStart);
    members.push({ name: decodeString(json, i, nameEnd), start: valueStart, end });
    i = nextStart(json, end);
  }
  return members;
}

/** The elements of an array, `most` of them at most. The scanner must hold this text, which is valid. */
export function elementsAt(json: Buffer, start: number, most = Number.POSITIVE_INFINITY): Span[] {
  const elements: Span[] = [];
  if (json[start] !== openBracket) return elements;
  for (let i = pastSpace(json, start + 1); json[i] !== closeBracket && elements.length < most;) {
    const end = scanner.valueEnd(i);
    elements.push({ start: i, end });
    i = nextStart(json, end);
  }
  return elements;
}

/** The member of that name; undefined where there is none or more than one. */
export function onlyMember(members: readonly Member[], name: string): Member | undefined {
  const named = members.filter((member) => member.name === name);
  return named.length === 1 ? named[0] : undefined;
}

/**
 * The value at a JSON Pointer, given as its reference tokens, in the value at `root`. The scanner must hold this text, as
 * for `membersAt`.
 */
export function spanAt(
  json: Buffer,
  path: readonly string[],
  root: Span = { start: 0, end: json.length },
): Span | undefined {
  let span: Span | undefined = root;
  for (const step of path) {
    if (span === undefined) return undefined;
    span =
      json[span.start] === openBracket
        ? elementAt(json, span.start, step)
        : onlyMember(membersAt(json, span.start), step);
  }
  return span;
}

function elementAt(json: Buffer, start: number, step: string): Span | undefined {
  if (!/^(0|[1-9]\d{0,8})$/.test(step)) return undefined;
  return elementsAt(json, start, Number(step) + 1)[Number(step)];
}

const pastSpace = (json: Buffer, offset: number): number => skipSpace(json, offset, json.length);

/** Where the next value of a container begins, or its end stands, after one that ended at `end`. */
function nextStart(json: Buffer, end: number): number {
  const i = pastSpace(json, end);
  return json[i] === comma ? pastSpace(json, i + 1) : i;
}

/**
 * The reference tokens of a JSON Pointer (RFC 6901) to the value that begins at `start`, from the one at `root` on; undefined
 * where none begins there. The scanner must hold this text, as for `membersAt`.
 */
export function pathTo(json: Buffer, root: number, start: number): readonly string[] | undefined {
  const path: string[] = [];
  for (let at = root; at !== start;) {
    const child = childrenAt(json, at).find((one) => one.start <= start && start < one.end);
    if (child === undefined) return undefined;
    path.push(child.name);
    at = child.start;
  }
  return path;
}

const childrenAt = (json: Buffer, at: number): readonly (Span & { readonly name: string })[] =>
  json[at] === openBrace
    ? membersAt(json, at)
    : elementsAt(json, at).map((span, i) => ({ ...span, name: String(i) }));
