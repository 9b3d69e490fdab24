import { bufferOf, closeBrace, closeBracket, comma, openBrace, openBracket } from './bytes.ts';
import { type Member, membersAt, type Span } from './members.ts';
import { noMembersThere, noSuchElement } from './errors.ts';
import { scanner } from './scanner.ts';

export interface MemberChange {
  /** Names of members and indexes of elements, from the outside in. */
  readonly path: readonly string[];
  /** JSON text; undefined removes the member. */
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
      return inserted(text, place, nested(path.slice(i), value));
    }
    place = member;
    if (i === path.length - 1 && value === undefined) return removed(text, member);
  }
  return spliced(text, place.start, place.end, value ?? '');
}

const nested = (path: readonly string[], value: string): string =>
  path.reduceRight((inner, name, i) => {
    const member = `${JSON.stringify(name)}:${inner}`;
    return i === 0 ? member : `{${member}}`;
  }, value);

function inserted(text: Buffer, { start }: Span, member: string): Buffer {
  const end = scanner.valueEnd(start) - 1;
  return spliced(text, end, end, text[end - 1] === openBrace ? member : `,${member}`);
}

function removed(text: Buffer, { from, end }: Member): Buffer {
  const isLast = text[end] === closeBrace || text[end] === closeBracket;
  if (!isLast) return spliced(text, from, end + 1, '');
  return spliced(text, text[from - 1] === comma ? from - 1 : from, end, '');
}

const spliced = (text: Buffer, start: number, end: number, value: string): Buffer =>
  Buffer.concat([text.subarray(0, start), Buffer.from(value, 'utf8'), text.subarray(end)]);
