import { bufferOf, closeBrace, closeBracket, comma, openBrace, openBracket } from './bytes.ts';
import { membersAt, type Span } from './members.ts';
import { noMembersThere, noSuchElement } from './errors.ts';
import { scanner } from './scanner.ts';

/** One change to an object: a member gets a value, or goes. */
export interface MemberChange {
  /** Names of members, and numbers of array elements, from the outside in. */
  readonly path: readonly string[];
  /** JSON text; undefined: the member goes. */
  readonly value: string | undefined;
}

/**
 * Compact JSON with one change; every other byte stays. What is missing on the way to a new member is created. Throws a
 * `DataError` where the path leads through something that has no such members. Undefined: there is nothing to remove.
 */
export function changeMember(json: Uint8Array, { path, value }: MemberChange): Buffer | undefined {
  const text = bufferOf(json);
  scanner.load(text);
  let place: Span = { start: 0, end: text.length };
  for (const [i, step] of path.entries()) {
    const found = childAt(text, place.start, step);
    if (found === 'no container') {
      throw noMembersThere(path.slice(0, i), path);
    }
    if (found === undefined) {
      if (value === undefined) return undefined;
      if (text[place.start] === openBracket) {
        throw noSuchElement(path.slice(0, i), step);
      }
      return inserted(text, place, nested(path.slice(i), value));
    }
    place = found;
    if (i === path.length - 1 && value === undefined) return removed(text, found);
  }
  return spliced(text, place.start, place.end, value ?? '');
}

interface Child extends Span {
  /** Where its name begins; of an element, where it begins itself. */
  readonly from: number;
}

/** Of a repeated name the last member, which is the one that counts for most readers. */
function childAt(text: Buffer, start: number, step: string): Child | 'no container' | undefined {
  if (text[start] === openBrace) {
    const members = membersAt(text, start);
    const i = members.findLastIndex(({ name }) => name === step);
    const member = members[i];
    const previous = members[i - 1];
    return member && { ...member, from: previous === undefined ? start + 1 : previous.end + 1 };
  }
  if (text[start] !== openBracket) return 'no container';
  let from = start + 1;
  for (let left = /^\d{1,9}$/.test(step) ? Number(step) : -1; text[from] !== closeBracket; left -= 1) {
    const end = scanner.valueEnd(from);
    if (left === 0) return { from, start: from, end };
    if (text[end] !== comma) return undefined;
    from = end + 1;
  }
  return undefined;
}

/** `"utm":{"source":1}` for the path utm.source. */
const nested = (path: readonly string[], value: string): string =>
  path.reduceRight((inner, name, i) => {
    const member = `${JSON.stringify(name)}:${inner}`;
    return i === 0 ? member : `{${member}}`;
  }, value);

function inserted(text: Buffer, { start }: Span, member: string): Buffer {
  const end = scanner.valueEnd(start) - 1;
  return spliced(text, end, end, text[end - 1] === openBrace ? member : `,${member}`);
}

/** One of the commas beside it goes too. */
function removed(text: Buffer, { from, end }: Child): Buffer {
  const isLast = text[end] === closeBrace || text[end] === closeBracket;
  if (!isLast) return spliced(text, from, end + 1, '');
  return spliced(text, text[from - 1] === comma ? from - 1 : from, end, '');
}

const spliced = (text: Buffer, start: number, end: number, value: string): Buffer =>
  Buffer.concat([text.subarray(0, start), Buffer.from(value, 'utf8'), text.subarray(end)]);
