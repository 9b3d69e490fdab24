import { isUtf8 } from 'node:buffer';
import { bomLength, bufferOf, describeByte, opensContainer, skipSpace, unexpectedAfter } from './bytes.ts';
import { incomplete, scanner, unexpectedAt } from './scanner.ts';

export type Document =
  | {
      readonly ok: true;
      readonly json: Buffer;
      readonly start: number;
      readonly end: number;
      readonly row: Int32Array;
      readonly hasByteOrderMark: boolean;
    }
  | { readonly ok: false; readonly detail: string };

/**
 * Checks that a body is strict JSON in UTF-8, and loads it into the scanner. The value is `json[start, end)`, and `row` is
 * a copy of its row in the scanner, of use for an object alone. `detail` names the fault of the `subject`, and
 * quotes no more than a character, because a body may hold a secret. A number at the very end is refused: it may have been cut.
 */
export function readDocument(body: Uint8Array, subject = 'the body'): Document {
  const json = bufferOf(body);
  if (!isUtf8(json)) return { ok: false, detail: `${subject} is not UTF-8` };
  const markLength = bomLength(json);
  const start = skipSpace(json, markLength, json.length);
  if (start === json.length) return { ok: false, detail: `${subject} is empty` };
  scanner.load(json);
  const end = scanner.valueEnd(start);
  // Outside of brackets, such as in a form's body, no fault is described.
  const isContainer = opensContainer(json[start]);
  if (end < 0 && !isContainer) return { ok: false, detail: `${subject} is not JSON` };
  if (end === incomplete) return { ok: false, detail: `${subject} is not JSON: it ends too early` };
  const unexpected = end < 0 ? unexpectedAt(end) : unexpectedAfter(json, end, json.length);
  if (unexpected === undefined)
    return { ok: true, json, start, end, row: scanner.lastRow(), hasByteOrderMark: markLength > 0 };
  const byte = describeByte(json[unexpected] ?? 0);
  return { ok: false, detail: `${subject} is not JSON: unexpected ${byte} at byte ${unexpected}` };
}
