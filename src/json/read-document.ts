import { isUtf8 } from 'node:buffer';
import { bufferOf, describeByte, openBrace, openBracket, skipSpace } from './bytes.ts';
import { unexpectedAfter } from './find-array.ts';
import { incomplete, scanner, unexpectedAt } from './scanner.ts';

export type Document =
  | {
      readonly ok: true;
      readonly json: Buffer;
      /** The position of its one value. */
      readonly start: number;
      readonly end: number;
      readonly hasByteOrderMark: boolean;
    }
  | { readonly ok: false; readonly detail: string };

/**
 * Checks that a body is strict JSON in UTF-8, and loads it into the scanner, whose last row is then that of its value.
 * `detail` says in a few words what is wrong, and quotes nothing but single characters.
 */
export function readDocument(body: Uint8Array): Document {
  const json = bufferOf(body);
  if (!isUtf8(json)) return { ok: false, detail: 'the body is not UTF-8' };
  const hasByteOrderMark = json[0] === 0xef && json[1] === 0xbb && json[2] === 0xbf;
  const start = skipSpace(json, hasByteOrderMark ? 3 : 0, json.length);
  if (start === json.length) return { ok: false, detail: 'the body is empty' };
  scanner.load(json);
  const end = scanner.valueEnd(start);
  const isContainer = json[start] === openBrace || json[start] === openBracket;
  if (end < 0 && !isContainer) return { ok: false, detail: 'the body is not JSON' };
  if (end === incomplete) return { ok: false, detail: 'the JSON ends too early' };
  const unexpected = end < 0 ? unexpectedAt(end) : unexpectedAfter(json, end, json.length);
  if (unexpected !== undefined) {
    const byte = describeByte(json[unexpected] ?? 0);
    return { ok: false, detail: `the body is not JSON: unexpected ${byte} at byte ${unexpected}` };
  }
  return { ok: true, json, start, end, hasByteOrderMark };
}
