import { backslash, isDigit, minus, quote } from './bytes.ts';
import { membersAt, type Span } from './members.ts';
import { ScannedRecord } from './scanned-record.ts';
import { idKinds, row, scanner } from './scanner.ts';

/**
 * The object at `start` of a valid and compact text as a record whose id is the member `idName`. `outerId` is the place
 * of an id outside the object, in the same text, for a record that has none. Loads the text into the scanner.
 */
export function identifiedRecord(json: Buffer, start = 0, idName?: string, outerId?: Span): ScannedRecord {
  scanner.load(json);
  scanner.valueEnd(start);
  const rows = scanner.lastRow();
  if (idName !== undefined && idName !== 'id') {
    const [id, ...others] = membersAt(json, start).filter(({ name }) => name === idName);
    if (id === undefined) rows[row.idKind] = idKinds.missing;
    else setId(rows, json, id, others.length > 0);
  }
  if (outerId !== undefined && rows[row.idKind] === idKinds.missing) setId(rows, json, outerId, false);
  return new ScannedRecord(json, rows, 0);
}

/** The same as the scanner does for a member `id`. */
function setId(rows: Int32Array, json: Buffer, { start, end }: Span, isRepeated: boolean): void {
  const inner = json[start] === quote ? 1 : 0;
  rows[row.idStart] = start + inner;
  rows[row.idEnd] = end - inner;
  rows[row.idKind] = isRepeated ? idKinds.repeated : kindOf(json.subarray(start, end));
}

function kindOf(value: Buffer): number {
  if (value[0] === quote) {
    if (value.includes(backslash)) return idKinds.escaped;
    return value.length > 2 ? idKinds.asItStands : idKinds.unusable;
  }
  const digits = value[0] === minus ? value.subarray(1) : value;
  return digits.every(isDigit) ? idKinds.asItStands : idKinds.unusable;
}
