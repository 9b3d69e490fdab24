import { describe, expect, it } from 'vitest';
import { described } from '../support/described.ts';
import { InvalidRecord } from '../../src/json/scanned-record.ts';
import { PageScan } from '../../src/json/page-scan.ts';
import type { ScannedRecord } from '../../src/json/scanned-record.ts';

interface Options {
  readonly keepsInvalid?: boolean;
  readonly idName?: string;
  readonly cut?: number;
}

function scan(json: string | Buffer, { cut = 0, ...options }: Options = {}): ScannedRecord[] {
  const bytes = Buffer.from(json);
  const page = new PageScan('auto', options);
  const records: ScannedRecord[] = [];
  page.push(bytes.subarray(0, cut), records);
  page.push(bytes.subarray(cut), records);
  if (page.end(records) === undefined) throw new Error('cut off');
  return records;
}

const failure = (json: string | Buffer, options?: Options): string => {
  try {
    scan(json, options);
  } catch (error) {
    return (described(error) as Error).message;
  }
  throw new Error('it did not fail');
};

const shown = (records: readonly ScannedRecord[]): unknown[] =>
  records.map((record) =>
    record instanceof InvalidRecord ? { nth: record.nth, id: record.readableId } : record.bytes.toString(),
  );

const [first, last] = ['{"id":"a"}', '{"id":"z","n":1}'];

const broken: readonly (readonly [what: string, record: string, id: string | undefined])[] = [
  ['NaN', '{"id":"L-6","score":NaN}', 'L-6'],
  ['Infinity in front of the id', '{"score":-Infinity, "id" : "L-6"}', 'L-6'],
  ['a value that is missing', '{"id":"L-6","score":}', 'L-6'],
  ['a comma too many', '{"id":7,"tags":["a",],}', '7'],
  ['names without quotes', '{id:"x","a":1}', undefined],
  ['a quote inside of a text', '{"id":"L-6","name":"Joe "the" X"}', 'L-6'],
  ['a line break inside of a text', '{"id":"L-6","note":"one\ntwo"}', 'L-6'],
  ['an escape that is none', String.raw`{"id":"L-6","note":"\x41 } ]"}`, 'L-6'],
  ['a number that is none', '{"id":"L-6","zip":01234}', 'L-6'],
  ['single quotes', "{'id':'L-6'}", undefined],
];

describe('a record that is no JSON', () => {
  it.each(broken)('is named by its place and its id: %s', (_, record, id) => {
    const message = failure(`{"data":[${first},${record},${last}]}`);
    expect(message).toMatch(
      /^the answer is not valid JSON: unexpected .* at byte \d+, in lead 2 of the page/,
    );
    if (id !== undefined) expect(message).toMatch(new RegExp(`, ${id}$`));
  });

  it.each(broken)('is kept as one that is, wherever the chunks are cut: %s', (_, record, id) => {
    const json = `{"data":[${first}, ${record} ,${last},${record}],"next":null}`;
    for (let cut = 0; cut <= json.length; cut += 1) {
      const records = scan(json, { keepsInvalid: true, cut });
      expect(shown(records)).toEqual([first, { nth: 2, id }, last, { nth: 4, id }]);
      // It comes again under the same id, whether that can be read or not.
      expect(records[1]?.id).toBe(records[3]?.id);
    }
  });

  it('has the id that the dialect names, and its time', () => {
    const json = '[{"id":"no","uuid":"u-1","createdAt":"2026-01-02T00:00:00Z","x":NaN}]';
    const [record] = scan(json, { keepsInvalid: true, idName: 'uuid' });
    expect([record?.id, record?.createdAt]).toEqual(['u-1', '2026-01-02T00:00:00Z']);
    expect(failure(json, { idName: 'uuid' })).toMatch(/, u-1$/);
  });

  it('may hold bytes that are no UTF-8', () => {
    const json = Buffer.concat([
      Buffer.from('[{"id":"a"},{"id":"b","x":"'),
      Buffer.of(0xff),
      Buffer.from('"},{}]'),
    ]);
    expect(failure(json)).toBe(
      'the answer is not valid JSON: bytes that are not UTF-8, in lead 2 of the page, b',
    );
    expect(shown(scan(json, { keepsInvalid: true }))).toEqual(['{"id":"a"}', { nth: 2, id: 'b' }, '{}']);
  });

  it.each([
    ['that does not end', `[${first},{"id":"b","x":NaN`],
    ['whose end is not to be found', `[${first},{"id":"b","x":NaN}} ,${last}]`],
    ['with a quote that does not close', `[${first},{"id":"b","x":"y},${last}]`],
  ])('%s ends the page', (_, json) => {
    expect(() => scan(json, { keepsInvalid: true })).toThrow(/not valid JSON|cut off/);
  });

  it('is none where a comma is missing between two that are JSON', () => {
    expect(() => scan(`[${first} ${last}]`, { keepsInvalid: true })).toThrow('the answer is not valid JSON');
  });
});
