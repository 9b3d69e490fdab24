import { readXlsx } from 'hucre/xlsx';
import { expect, it, test } from 'vitest';
import { recordWriter } from '../../../src/output/records/record-writer.ts';
import type { WriterOptions } from '../../../src/output/records/record-types.ts';

/** The rows of the sheet that these records become, its header first. */
async function rowsOf(records: readonly string[], options: WriterOptions = {}) {
  const chunks: Uint8Array[] = [];
  const sink = {
    write: (bytes: Uint8Array) => Promise.resolve(void chunks.push(Uint8Array.from(bytes))),
    end: () => Promise.resolve(),
  };
  const writer = await recordWriter('xlsx', sink, options);
  await writer.write(records.map((json) => ({ bytes: Buffer.from(json) })));
  await writer.end();
  const book = await readXlsx(Buffer.concat(chunks));
  return book.sheets[0]?.rows ?? [];
}

test.each([
  ['"+34 600 11 22 33"', '+34 600 11 22 33'],
  ['"0042"', '0042'],
  ['"=1+1"', '=1+1'],
  ['12345678901234567', '12345678901234567'],
  ['-123456789012345', -123456789012345],
  ['1234567890123456.5', '1234567890123456.5'],
  ['1e400', '1e400'],
  ['0.25', 0.25],
  ['true', true],
  ['null', null],
  ['"2026-10-31"', '2026-10-31'],
  ['["a",1]', '["a",1]'],
  ['"a\\u0000_x0041_\\n b "', 'a\u0000_x0041_\n b '],
  ['"\\uffff\\ud800"', '\ufffd\ufffd'],
])('a cell of %s', async (json, value) => {
  const [header, row] = await rowsOf([`{"a":${json}}`], { fields: ['a'] });
  expect(header).toEqual([
    ...['id', 'category', 'contact.name', 'contact.email', 'contact.phone', 'metadata.source'],
    ...['createdAt (UTC)', 'a', 'other'],
  ]);
  expect(row?.[7]).toEqual(value);
});

it('has the same columns as CSV, and the rest of a lead as JSON in the last one', async () => {
  const records = ['{"id":"1","contact":{"name":"A","x":"=1"}}', '{"id":"2","late":1}', '{"id":"3"}'];
  const [header, ...rows] = await rowsOf(records);
  expect(header?.at(-1)).toBe('other');
  expect(rows.map((row) => [row[0], row[2] ?? null, row[7] ?? null])).toEqual([
    ['1', 'A', '{"contact":{"x":"=1"}}'],
    ['2', null, '{"late":1}'],
    ['3', null, null],
  ]);
});

it('shows times in the zone that the name of the column says, on both sides of a change of clocks', async () => {
  const records = ['2026-10-25T00:59:59Z', '2026-10-25T01:00:00Z', '2026-03-29T01:00:00+00:00'].map((at) =>
    JSON.stringify({ createdAt: at }),
  );
  const [header, ...rows] = await rowsOf(records, { zone: 'Europe/Madrid' });
  expect(header?.[6]).toBe('createdAt (Europe/Madrid)');
  expect(rows.map((row) => (row[6] as Date).toISOString().slice(0, 19))).toEqual([
    '2026-10-25T02:59:59',
    '2026-10-25T02:00:00',
    '2026-03-29T03:00:00',
  ]);
});

it('keeps what is no time, or none that a spreadsheet has, as it is', async () => {
  const times = ['"2026-01-01T00:00:00Z"', '1767225600', '"soon"', '"0001-01-01T00:00:00Z"'];
  const rows = await rowsOf(
    times.map((at) => `{"createdAt":${at},"note":${at}}`),
    { fields: ['note'] },
  );
  const newYear = new Date('2026-01-01T00:00:00Z');
  expect(rows.slice(1).map((row) => [row[6], row[7]])).toEqual([
    [newYear, '2026-01-01T00:00:00Z'],
    [newYear, 1767225600],
    ['soon', 'soon'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
  ]);
});

it('cuts what no cell can hold, and tells how many', async () => {
  const told: number[] = [];
  const long = 'x'.repeat(32_766) + '😀';
  const options = { onCut: (cells: number) => told.push(cells) };
  const [, row] = await rowsOf([JSON.stringify({ id: long, category: long.slice(2) })], options);
  expect(row?.slice(0, 2)).toEqual([long.slice(0, 32_766), long.slice(2)]);
  expect(told).toEqual([1]);
});

it('replaces half a character and one that XML lacks', async () => {
  const records = [
    String.raw`{"id":"a\ud83d","category":"\ud83d\ude00","contact":{"name":"\uffff"},"d":["\ud800"]}`,
    '{"id":"\\ud83d"}',
  ];
  const [, row] = await rowsOf(records);
  expect([row?.[0], row?.[1], row?.[2], row?.[7]]).toEqual([
    'a\ufffd',
    '😀',
    '\ufffd',
    String.raw`{"d":["\ud800"]}`,
  ]);
});

it('fails with what its sink fails with, however many rows wait', async () => {
  const sink = { write: () => Promise.reject(new Error('full')), end: () => Promise.resolve() };
  const writer = await recordWriter('xlsx', sink, {});
  const fill = async (): Promise<void> => {
    for (let i = 0; i < 20_000; i += 1) await writer.write([{ bytes: Buffer.from(`{"id":"${i}"}`) }]);
    await writer.end();
  };
  await expect(fill()).rejects.toThrow('full');
});
