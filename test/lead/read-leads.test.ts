import { describe, expect, it } from 'vitest';
import { parsePointer } from '../../src/json/exact.ts';
import { readLeads, readStoredLead } from '../../src/lead/read-leads.ts';
import type { LeadAtNames } from '../../src/lead/refusals.ts';

const names: LeadAtNames = { saidBy: '--lead-at', option: '--lead-at' };

/** The exact text of each lead, or why there is none. */
function read(body: string | Uint8Array, at = 'auto'): readonly string[] | string {
  const bytes = Buffer.from(body);
  const found = readLeads(bytes, at === 'auto' ? at : (parsePointer(at) ?? []), names);
  if (!found.ok) return found.detail;
  return found.leads.map(({ place }) =>
    bytes.toString('utf8', place?.start ?? 0, place?.end ?? bytes.length),
  );
}

const a = '{ "id": "a",\n "category" : "solar" }';
const b = '{"n":1.0,"contact":{"id":7,"createdAt":"x"},"id":2}';

describe('the lead of a body, by itself', () => {
  it.each([
    ['the body, where it has one of the fields beside its id', b, [b]],
    ['what is inside a body with an id and no field', `{"id":"x","createdAt":null,"data":${a}}`, [a]],
    ['the body, where nothing inside has an id', '{"id":"x","data":{"n":"y"}}', undefined],
    ['the only object at depth one', ` {"id":"evt", "data": ${a} , "x":[]} `, [a]],
    ['the same behind a byte order mark', `\ufeff{"data":${a}}`, [a]],
    ['the only object at depth two', `{"event":{"type":"t","lead":${b}},"id":1}`, [b]],
    ['the only object in an array', `[{"lead":${a}}]`, [a]],
    ['the only object at depth four', `{"x":{"y":{"z":{"v":${a}}}}}`, [a]],
    [
      'what every element of nested arrays has',
      `{"e":[{"c":[{"v":${a}},{"v":${b}}]},{"c":[{"v":${a}}]}]}`,
      [a, b, a],
    ],
    ['an array', `[${a} , ${b}]`, [a, b]],
    ['an array of one', `[${a}]`, [a]],
    ['an array in an envelope', `{"type":"leads","leads":[${b},${a},{"id":3}]}`, [b, a, '{"id":3}']],
    ['an array of one in an envelope with an id', `{"id":"evt","leads":[${b}]}`, [b]],
    ['an array of several in an envelope with an id', `{"id":"evt","leads":[${a},${b}]}`, [a, b]],
  ])('is %s', (_, body, expected) => {
    expect(read(body)).toEqual(expected ?? [body]);
  });

  it.each([
    ['two objects could be', `{"x":${a},"y":${b}}`, /more than one object.*--lead-at/],
    ['one key occurs twice', `{"x":${a},"x":${b}}`, /only a part of the body has a lead at \/x/],
    ['two objects could be, beside an id', `{"id":"l","x":${a},"y":${b}}`, /--lead-at \/x or --lead-at \/y/],
    ['both the body and an object inside have an id', '{"id":"x","data":{"id":"y"}}', /at '' or \/data/],
    ['the object inside is unusable', '{"id":"l","x":{"id":{},"category":"c"}}', /at \/x: 'id' is no string/],
    ['two arrays could be', `{"x":[${a}],"y":[${b}]}`, /more than one object.*--lead-at/],
    ['it is at depth five', `{"x":{"y":{"z":{"v":{"w":${a}}}}}}`, /no 'id'; .*--lead-at/],
    ['an array is empty', '[]', /empty array/],
    ['an element of an array has none', `[1,{"lead":${a}}]`, /only a part of the body .*at \/0\/lead/],
    ['an array holds no lead', '[1,{"id":2}]', /no object in the array.*--lead-at/],
    ['one of an array is none', `[${a},5]`, /^lead 2 at \/\*: it is not a JSON object/],
    ['one of an array has no id', `[${a},{"category":"x"}]`, /^lead 2 .*there is no 'id'/],
    ['one of an array has two ids', `[${a},{"id":1,"id":2,"category":"x"}]`, /^lead 2 .*more than once/],
    ['it has two ids', `{"x":{"id":1,"id":2,"category":"x"}}`, /^the object at \/x: .*more than once/],
    [
      'the body is a lead with two ids',
      `{"id":1,"id":2,"category":"x","contact":${b}}`,
      /^the key 'id' occurs/,
    ],
    ['the body is not JSON', `{"data":${a}`, /too early/],
    ['the body goes on', `[${a}] x`, /unexpected 'x'/],
    ['the body is not UTF-8', Buffer.from(`{"x":"\xff","data":${a}}`, 'latin1'), /not UTF-8/],
  ])('is not found where %s', (_, body, detail) => {
    expect(read(body)).toMatch(detail);
  });
});

describe('the lead of a body, at a pointer', () => {
  it.each([
    ['', b, [b]],
    ['', `{"id":"evt","data":${a}}`, undefined],
    ['', ` [${a}, ${b} ]`, [a, b]],
    ['/data', `{"id":"evt","category":"x","data" : ${a} }`, [a]],
    ['/0/x~1y/~01', `[{"x/y":{"~1":${a}}}]`, [a]],
    ['/a/0', `{"a":[${a}]}`, [a]],
    ['/a/*', `{"a":[${a}, ${b}]}`, [a, b]],
    ['/a/*/v', `{"a":[{"v":${a}}, {"v":[${b},${a}]}]}`, [a, b, a]],
    ['/*', `{"*":${a}}`, [a]],
    ['/a', `{"a":[{"id":1},{"id":"\\u0061"}]}`, ['{"id":1}', '{"id":"\\u0061"}']],
    ['/x/y/z/0/v', `{"x":{"y":{"z":[{"v":${a}}]}}}`, [a]],
  ])("'%s' of %s", (at, body, expected) => {
    expect(read(body, at)).toEqual(expected ?? [body]);
  });

  it.each([
    [
      '/data',
      `{"id":"a","category":"x"}`,
      'there is nothing at /data, where --lead-at says that the lead is',
    ],
    ['/data', `{"data":${a},"data":${b}}`, 'there is nothing at /data'],
    ['/a/2', `{"a":[${a}]}`, 'there is nothing at /a/2'],
    ['/a/00', `{"a":[${a}]}`, 'there is nothing at /a/00'],
    ['/a/b', `{"a":5}`, 'there is nothing at /a/b'],
    ['/a', `{"a":"text"}`, 'what is at /a is no object and no array'],
    ['', '5.0 ', "what is at '' is no object"],
    ['/a', `{"a":[]}`, 'the array at /a is empty'],
    ['', '[]', "the array at '' is empty"],
    ['/a', `{"a":{"x":1}}`, "the object at /a: there is no 'id'"],
    ['', '{"x":1}', "there is no 'id'"],
    ['/a', `{"a":[{"id":1},[]]}`, 'lead 2 at /a: it is not a JSON object'],
    [
      '/a/1',
      `{"a":[${a}, ${b}]}`,
      'the array at /a has 2 elements, of which /a/1 takes one; --lead-at /a/* takes all',
    ],
    ['/a/0/v', `{"a":[{"v":${a}}, 5]}`, '--lead-at /a/*/v takes all of them'],
    ['/a/*/v', `{"a":[{"v":${a}}, {"w":1}]}`, 'there is nothing at /a/1/v'],
    ['/a/*/c/*/v', `{"a":[{"c":[{"v":${a}}]},{"c":[{"w":1}]}]}`, 'there is nothing at /a/1/c/0/v'],
    ['/a/*', `{"a":[]}`, 'the array at /a/* is empty'],
    ['/a', '{"a":[', 'too early'],
  ])("'%s' of %s is refused", (at, body, detail) => {
    expect(read(body, at)).toContain(detail);
  });
});

it('takes a thousand leads, and no more', () => {
  const leads = (count: number): string =>
    `[${Array.from({ length: count }, (_, i) => `{"id":${i},"category":""}`).join()}]`;
  expect(read(leads(1000))).toHaveLength(1000);
  expect(readLeads(Buffer.from(leads(1001)), 'auto')).toMatchObject({ ok: false, isTooMany: true });
});

it('leaves no lead out behind more than a thousand empty arrays', () => {
  const body = Buffer.from(`{"e":[{"c":[${a}]},${'{"c":[]},'.repeat(1000)}{"c":[${b}]}]}`);
  for (const at of ['auto', ['e', '*', 'c', '*'], ['e', '*', 'c']] as const)
    expect(readLeads(body, at)).toMatchObject({ ok: false, isTooMany: true });
});

it.each([
  ['many elements', `[${'1,'.repeat(500_000)}1]`],
  ['many objects', `[${'{"id":1},'.repeat(110_000)}1]`],
  ['many places', `{${'"a":{"id":1,"category":2},'.repeat(38_000)}"x":1}`],
  ['deep arrays', '['.repeat(500_000) + ']'.repeat(500_000)],
  ['deep objects', '{"id":'.repeat(140_000) + '1' + '}'.repeat(140_000)],
])('takes little time for a megabyte of %s', (_, body) => {
  const started = performance.now();
  expect(typeof read(body)).toBe('string');
  for (const at of ['', '/0', '/id/id/id', '/499999']) read(body, at);
  expect(performance.now() - started).toBeLessThan(10_000);
});

it.each([
  ['uuid', '{"n":1,"uuid":"x"}'],
  ['contact.id', '{"contact":{"id":"\\u0078"}}'],
  ['contact.ids.main', '{"a":{"x":"y"},"contact":{"ids":{"main":"x"}}}'],
  ['the fewest names', '{"a":{"b":"x"},"uuid":"x","uuid2":"y"}'],
])('reads a stored lead again by its id in %s', (_, body) => {
  expect(readStoredLead(Buffer.from(body), 'x')).toMatchObject({ ok: true, lead: { id: 'x' } });
});

it('reads a stored lead of a megabyte again in little time', () => {
  const started = performance.now();
  const members = Array.from({ length: 50_000 }, (_, i) => `"field${i}":"${i}"`).join();
  for (const body of [`{${members},"uuid":"x"}`, `{"a":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_001)}`])
    readStoredLead(Buffer.from(body), 'x');
  expect(performance.now() - started).toBeLessThan(5000);
});
