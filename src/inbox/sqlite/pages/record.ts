import type { Value } from '../libsql.ts';

/** The pages of a file are not those of a database that this reads. */
export class UnreadablePage extends Error {}

/** A whole number of up to 64 bits, and the offset behind it. One above 2^53 is rounded. */
export function varint(bytes: Buffer, from: number): readonly [value: number, end: number] {
  let value = 0;
  for (let i = 0; i < 8; i += 1) {
    const byte = bytes[from + i];
    if (byte === undefined) throw new UnreadablePage('a number ends before its last byte');
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return [value, from + i + 1];
  }
  return [value * 256 + (bytes[from + 8] ?? 0), from + 9];
}

/**
 * The columns of a row; those that were added to the table after it was written are left out. Rules:
 * https://www.sqlite.org/fileformat2.html, "Record Format".
 */
export function columnsOf(record: Buffer): Value[] {
  const values: Value[] = [];
  const [headerEnd, first] = varint(record, 0);
  let at = headerEnd;
  for (let header = first; header < headerEnd;) {
    const [type, next] = varint(record, header);
    header = next;
    const length = lengthOf(type);
    if (at + length > record.length) throw new UnreadablePage('a row ends before its last column');
    values.push(valueOf(type, record.subarray(at, at + length)));
    at += length;
  }
  return values;
}

const numberLengths = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0];

const lengthOf = (type: number): number =>
  type >= 12 ? Math.floor((type - 12) / 2) : (numberLengths[type] ?? 0);

function valueOf(type: number, bytes: Buffer): Value {
  if (type >= 12) return type % 2 === 0 ? bytes : bytes.toString('utf8');
  if (type === 0) return null;
  if (type === 7) return bytes.readDoubleBE(0);
  if (type > 7) return type - 8;
  return type === 6 ? Number(bytes.readBigInt64BE(0)) : bytes.readIntBE(0, bytes.length);
}
