import { closeBrace, closeBracket, openBrace, openBracket } from '../bytes.ts';
import { decodeString } from '../scanned-record.ts';
import { scanner } from '../scanner.ts';

/** The position of a value in a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Member extends Span {
  readonly name: string;
}

/** The members of an object, repeated names too. The scanner must hold this text, which is valid and compact. */
export function membersAt(json: Buffer, start: number): Member[] {
  const members: Member[] = [];
  if (json[start] !== openBrace) return members;
  for (let i = start + 1; json[i] !== closeBrace && i < json.length;) {
    const nameEnd = scanner.valueEnd(i);
    const end = scanner.valueEnd(nameEnd + 1);
    members.push({ name: decodeString(json, i, nameEnd), start: nameEnd + 1, end });
    i = json[end] === closeBrace ? end : end + 1;
  }
  return members;
}

/** The member of that name; undefined where there is none or more than one. */
export function onlyMember(members: readonly Member[], name: string): Member | undefined {
  const named = members.filter((member) => member.name === name);
  return named.length === 1 ? named[0] : undefined;
}

/** The value at a JSON Pointer, given as its reference tokens. The scanner must hold this text, as for `membersAt`. */
export function spanAt(json: Buffer, path: readonly string[]): Span | undefined {
  let span: Span | undefined = { start: 0, end: json.length };
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
  if (!/^(0|[1-9]\d{0,8})$/.test(step) || json[start + 1] === closeBracket) return undefined;
  let i = start + 1;
  for (let left = Number(step); ; left -= 1) {
    const end = scanner.valueEnd(i);
    if (left === 0) return { start: i, end };
    if (json[end] === closeBracket) return undefined;
    i = end + 1;
  }
}
