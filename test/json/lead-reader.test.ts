import { describing } from '../support/described.ts';
import { describe, expect, it } from 'vitest';
import { type ItemPlace, LeadReader } from '../../src/json/lead-reader.ts';
import { PageScan } from '../../src/json/page-scan.ts';
import type { ScannedRecord } from '../../src/json/scanned-record.ts';

/** The leads of a page whose elements these are, arriving in chunks of so many bytes. */
function read(elements: readonly string[], item: ItemPlace = 'auto', idName?: string, chunk = 7) {
  const page = Buffer.from(`{"data":[${elements.join(' ,\n ')}]}`);
  const reader = new LeadReader(item, idName);
  const scan = new PageScan('auto');
  const leads: ScannedRecord[] = [];
  const after = (advance: () => void): void => {
    const from = leads.length;
    advance();
    reader.read(leads, from, 0);
  };
  for (let at = 0; at < page.length; at += chunk) {
    after(() => scan.push(page.subarray(at, at + chunk), leads));
  }
  after(() => scan.end(leads));
  return leads.map((lead) => ({
    bytes: Buffer.from(lead.bytes).toString(),
    id: lead.id,
    createdAt: lead.createdAt,
  }));
}

/** Escapes, numbers beyond a double, a repeated key, keys in no order, nested members of the same names. */
const exact =
  '{"z":12345678901234567890.50e+2,"s":"\\u00e9é\\/\\"}","node":{"id":"inner","lead":{}},"id":"a\\u002d1",' +
  '"createdAt":"2026-01-01T00:00:00Z","s":[],"a":-0.0}';
const other = '{"id":7,"_id":"x","doc":null}';

const wrappers: [string, (lead: string, nth: number) => string][] = [
  ['Relay edges', (lead, nth) => `{"cursor":"c${nth}\\"{","node":${lead}}`],
  ['CouchDB rows', (lead, nth) => `{"id":"r${nth}","key":["{",1],"value":{"rev":"1-a"},"doc":${lead}}`],
  [
    'Elasticsearch hits',
    (lead, nth) => `{"_index":"leads","_id":"h${nth}","_score":null,"_source":${lead},"sort":[${nth}]}`,
  ],
  ['elements {"lead":{}}', (lead) => `{"lead":${lead}}`],
  ['the same with an escaped name', (lead) => `{"l\\u0065ad":${lead}}`],
];

describe.each(wrappers)('%s', (_, wrap) => {
  it('give the bytes of the lead inside, its id and its time', () => {
    for (const chunk of [1, 64, 10_000]) {
      expect(read([wrap(exact, 1), wrap(other, 2)], 'auto', undefined, chunk)).toEqual([
        { bytes: exact, id: 'a-1', createdAt: '2026-01-01T00:00:00Z' },
        { bytes: other, id: '7', createdAt: undefined },
      ]);
    }
  });

  it('lose only the white space between tokens', () => {
    const spaced = exact.replace('"id":', ' "id" : ').replace('[]', '[ ]');
    expect(read([wrap(spaced, 1)])).toMatchObject([{ bytes: exact }]);
  });

  it('are taken whole where the pointer is empty', () => {
    expect(read([wrap(exact, 1)], [])).toMatchObject([{ bytes: wrap(exact, 1) }]);
  });

  it.each(['null', '"x"', '[]'])('fail with the place of an element that holds %s instead', (value) => {
    expect(describing(() => read([wrap(exact, 1), wrap(value, 2)]))).toThrow(
      /^element 2 of the page holds no lead/,
    );
  });

  it('fail at an element that is a lead itself', () => {
    expect(describing(() => read([wrap(exact, 1), other]))).toThrow(/^element 2 of the page holds no lead/);
  });
});

it('an element with a member that its wrapper does not have is not cut', () => {
  expect(read(['{"lead":{"id":1},"score":5}'])).toEqual([
    { bytes: '{"lead":{"id":1},"score":5}', id: undefined, createdAt: undefined },
  ]);
  expect(describing(() => read(['{"lead":{"id":1}}', '{"lead":{"id":2},"score":5}']))).toThrow(
    "element 2 of the page is not like those before it: 'score' stands beside /lead",
  );
});

it.each([
  ['{"node":"n1","id":1}'],
  ['{"lead":"x"}'],
  ['{"doc":{"a":1},"id":1}'],
  ['{"id":1,"key":2,"value":3,"doc":"a.pdf"}'],
  ['{"lead":{},"lead":{}}'],
])('a lead with a member of such a name is a lead: %s', (lead) => {
  expect(read([lead])).toMatchObject([{ bytes: lead }]);
});

it('a wrapper identifies a lead that has no id itself', () => {
  const [relay, couch, hits] = wrappers.map(([, wrap]) => read([wrap('{"a":1}', 1)])[0]?.id);
  expect([relay, couch, hits]).toEqual([undefined, 'r1', 'h1']);
  const hit = wrappers[2]?.[1] ?? String;
  expect(read([hit('{"id":1.5}', 1), hit('{"id":"","id":"x"}', 1)]).map(({ id }) => id)).toEqual([
    undefined,
    undefined,
  ]);
  expect(read([hit('{"a":1}', 1)], 'auto', 'uuid')).toMatchObject([{ id: undefined }]);
});

describe('a pointer', () => {
  it('takes exactly what it names', () => {
    const element = `{"a/b":[[],{"~":${exact}}],"id":"outer"}`;
    expect(read([element, element], ['a/b', '1', '~'])).toMatchObject([
      { bytes: exact, id: 'a-1' },
      { bytes: exact, id: 'a-1' },
    ]);
    for (const path of [['a/b', '2'], ['a/b', '01'], ['a/b'], ['none'], ['id', 'x'], ['a/b', '0', '0']]) {
      expect(describing(() => read([element], path))).toThrow(/there is no object at \/(a~1b|none|id)/);
    }
  });
});

describe('another name of the id', () => {
  it.each([
    ['{"id":"no","uuid":"u-1"}', 'u-1'],
    ['{"uuid":9007199254740993,"nested":{"uuid":"no"}}', '9007199254740993'],
    ['{"uuid":-7}', '-7'],
    ['{"uui\\u0064":"\\u0041\\"b"}', 'A"b'],
    ['{"id":"no"}', undefined],
    ['{"uuid":""}', undefined],
    ['{"uuid":1.5}', undefined],
    ['{"uuid":null}', undefined],
    ['{"uuid":"a","uuid":"a"}', undefined],
    ['{}', undefined],
  ])('is read as id would be: %s', (lead, id) => {
    expect(read([lead], 'auto', 'uuid')).toMatchObject([{ bytes: lead, id }]);
    expect(read([`{"node":${lead}}`], 'auto', 'uuid')).toMatchObject([{ bytes: lead, id }]);
    const plain = lead.replaceAll('"id"', '"other"').replaceAll(/uuid|uui\\u0064/g, 'id');
    expect(read([plain])).toMatchObject([{ id }]);
  });
});
