import { isUtf8 } from 'node:buffer';
import { bufferOf, describeByte, openBrace, skipSpace } from '../json/bytes.ts';
import { deviationsOf } from './conformance.ts';
import { isObject, type Json } from '../json/exact.ts';
import { unexpectedAfter } from '../json/find-array.ts';
import { recordAt } from '../json/scanned-record.ts';
import { idKinds, incomplete, unexpectedAt, row, scanner } from '../json/scanner.ts';
import type { RawLead } from './raw-lead.ts';

export type ReadLead =
  | { readonly ok: true; readonly lead: RawLead; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly detail: string };

/**
 * Reads one lead, such as a webhook body: strict JSON in UTF-8, one object, with a usable `id` (a string or an integer,
 * not repeated as a key). Any other deviation from section 2 of the specification is a warning. `detail` says in a few
 * words what is wrong, and quotes nothing but single characters.
 */
export function readLead(bytes: Uint8Array): ReadLead {
  const body = bufferOf(bytes);
  if (!isUtf8(body)) return { ok: false, detail: 'the body is not UTF-8' };
  const hasByteOrderMark = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
  const start = skipSpace(body, hasByteOrderMark ? 3 : 0, body.length);
  if (start === body.length) return { ok: false, detail: 'the body is empty' };
  scanner.load(body);
  const end = scanner.valueEnd(start);
  if (body[start] !== openBrace) {
    return { ok: false, detail: end < 0 ? 'the body is not JSON' : 'the body is not a JSON object' };
  }
  if (end === incomplete) return { ok: false, detail: 'the JSON ends too early' };
  const unexpected = end < 0 ? unexpectedAt(end) : unexpectedAfter(body, end, body.length);
  if (unexpected !== undefined) {
    const byte = describeByte(body[unexpected] ?? 0);
    return { ok: false, detail: `the body is not JSON: unexpected ${byte} at byte ${unexpected}` };
  }
  const rows = scanner.lastRow();
  if (rows[row.idKind] === idKinds.repeated) {
    return { ok: false, detail: "the key 'id' occurs more than once" };
  }
  const lead = recordAt(body, rows, 0);
  if (!lead.hasId) {
    const isMissing = rows[row.idKind] === idKinds.missing;
    return { ok: false, detail: isMissing ? "there is no 'id'" : "'id' is no string or integer" };
  }
  // Only the types of the fields are checked, so numbers need not be exact.
  const record = JSON.parse(lead.bytes.toString('utf8')) as Json;
  const warnings = isObject(record) ? deviationsOf(record) : [];
  return {
    ok: true,
    lead,
    warnings: hasByteOrderMark ? ['starts with a byte order mark', ...warnings] : warnings,
  };
}
