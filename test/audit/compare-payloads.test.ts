import { describe, expect, it } from 'vitest';
import {
  type Comparison,
  differingFields,
  type DifferingFields,
  StatusField,
} from '../../src/audit/compare-payloads.ts';

const status = new StatusField(['status', 'deliveryStatus', 'state']);
const comparison: Comparison = {
  statusField: status,
  idNames: ['id', 'ref'],
  ignored: [],
};
const without = (field: StatusField, json: string): string => field.without(Buffer.from(json)).toString();

describe('a lead without its delivery status', () => {
  it.each([
    ['{"id":"a","n":1,"status":"new"}', '{"id":"a","n":1}'],
    ['{"status":"new","id":"a"}', '{"id":"a"}'],
    ['{"id":"a","status":null,"n":1}', '{"id":"a","n":1}'],
    ['{"id":"a","status":{"is":"new"}}', '{"id":"a"}'],
    ['{"id":"a","status":"say \\"new\\""}', '{"id":"a"}'],
    ['{"id":"a","status":"new\\\\"}', '{"id":"a"}'],
    ['{"id":"a","state":"CA","status":"new"}', '{"id":"a","state":"CA"}'],
    ['{"id":"a","deliveryStatus":"new","state":"CA"}', '{"id":"a","state":"CA"}'],
    ['{"id":"a","metadata":{"n":1,"status":"kept"}}', '{"id":"a","metadata":{"n":1,"status":"kept"}}'],
    ['{"id":"a","metadata":{"status":"kept"},"status":"x"}', '{"id":"a","metadata":{"status":"kept"}}'],
    ['{"id":"a","note":",\\"status\\":\\"new\\""}', '{"id":"a","note":",\\"status\\":\\"new\\""}'],
    ['{"id":"status"}', '{"id":"status"}'],
    ['{"status":"new"}', '{}'],
  ])('%s', (json, expected) => {
    expect(without(status, json)).toBe(expected);
  });

  it('is the same for records longer than any before', () => {
    const long = `{"id":"a","note":"${'x'.repeat(20_000)}"`;
    expect(without(status, `${long},"status":"new"}`)).toBe(`${long}}`);
    expect(without(status, '{"id":"b","status":"new"}')).toBe('{"id":"b"}');
  });

  it('goes by the dotted name that the profile says', () => {
    const named = new StatusField(['meta.state']);
    const nested = '{"id":"a","meta":{"state":"new","n":1},"status":"kept"}';
    expect(without(named, nested)).toBe('{"id":"a","meta":{"n":1},"status":"kept"}');
    expect(without(named, '{"id":"a","meta":"state"}')).toBe('{"id":"a","meta":"state"}');
  });
});

const compared = (pulled: string, received: string, how: Partial<Comparison> = {}): DifferingFields =>
  differingFields(Buffer.from(pulled), Buffer.from(received), { ...comparison, ...how });

const fields = (pulled: string, received: string, how?: Partial<Comparison>): readonly string[] =>
  compared(pulled, received, how).differing;

it('only the fields whose values differ are named', () => {
  expect(fields('{"id":"a","n":10,"status":"sent"}', '{"n":1e1,"id":"\\u0061"}')).toEqual([]);
  expect(fields('{"id":"a","n":1,"status":"sent"}', '{"id":"a","n":1,"status":"new"}')).toEqual([]);
  expect(fields('{"id":"a","c":{"x":1,"y":2}}', '{"id":"a","c":{"x":2,"y":2},"d":3}')).toEqual(['c.x', 'd']);
  expect(fields('{"id":"a","n":9007199254740993}', '{"id":"a","n":9007199254740992}')).toEqual(['n']);
});

it('the delivery status is the field that only the list shows, where a lead has several of the usual names', () => {
  expect(fields('{"id":"a","state":"CA","status":"sent"}', '{"id":"a", "state":"CA"}')).toEqual([]);
  expect(fields('{"id":"a","state":"CA","status":"sent"}', '{"id":"a","state":"NY"}')).toEqual(['state']);
  expect(fields('{"id":"a","status":"hot","deliveryStatus":"sent"}', '{"id":"a","status":"hot"}')).toEqual(
    [],
  );
  expect(fields('{"id":"a"}', '{"id":"a","status":"new"}')).toEqual([]);
});

it('an id is the same however it is written, and under the name that the profile has for it', () => {
  expect(fields('{"id":7,"n":1}', '{"id":"7","n":2}')).toEqual(['n']);
  expect(fields('{"ref":"a"}', '{"id":"a"}')).toEqual([]);
});

it.each([
  ['null is like absent', '{"id":"a","n":null,"c":{}}', '{"id":"a","c":{"x":null}}'],
  ['a time is an instant', '{"t":"2026-01-01T00:00:00.000Z"}', '{"t":"2026-01-01T01:00:00+01:00"}'],
  ['a time counts seconds', '{"t":1767225600}', '{"t":"2026-01-01T00:00:00Z"}'],
  ['a date is its midnight', '{"c":{"on":["2026-01-01"]}}', '{"c":{"on":["2026-01-01T00:00:00Z"]}}'],
  ['a number has a value', '{"n":1.50,"m":-0.0}', '{"n":15e-1,"m":0}'],
])('%s', (_, pulled, received) => {
  expect(compared(pulled, received)).toEqual({ differing: [], absent: [] });
  expect(compared(received, pulled)).toEqual({ differing: [], absent: [] });
});

it.each([
  ['another instant', '{"t":"2026-01-01T00:00:00Z"}', '{"t":"2026-01-01T00:00:01Z"}', 't'],
  ['a text that looks like a number', '{"n":"5"}', '{"n":5}', 'n'],
  ['digits and the number that they are', '{"n":"1767225600"}', '{"n":1767225600}', 'n'],
  ['two numbers that could be one time', '{"n":1767225600}', '{"n":1767225600000}', 'n'],
  ['null among others', '{"l":[1,null]}', '{"l":[1]}', 'l.1'],
  ['an element more', '{"l":[1,2]}', '{"l":[1]}', 'l.1'],
  ['what only the push has', '{"c":{}}', '{"c":{"x":0}}', 'c.x'],
])('is different: %s', (_, pulled, received, name) => {
  expect(compared(pulled, received)).toEqual({ differing: [name], absent: [] });
});

it('the time of creation is an instant, however it is counted', () => {
  for (const [pulled, received] of [
    ['1767225600', '1767225600000'],
    ['1767225600.123', '1767225600123'],
    ['"1767225600"', '1767225600000'],
    ['"1767225600"', '"2026-01-01T00:00:00Z"'],
  ] as const) {
    const own = [`{"createdAt":${pulled}}`, `{"createdAt":${received}}`] as const;
    expect([pulled, fields(...own)]).toEqual([pulled, []]);
    expect(fields(own[1], own[0])).toEqual([]);
    const [inside, other] = own.map((lead) => `{"attributes":${lead}}`) as [string, string];
    expect(fields(inside, other)).toEqual([]);
  }
  expect(fields('{"createdAt":1767225600}', '{"createdAt":1767225601000}')).toEqual(['createdAt']);
  expect(fields('{"createdAt":5}', '{"createdAt":6}')).toEqual(['createdAt']);
  expect(fields('{"m":{"createdAt":1767225600}}', '{"m":{"createdAt":1767225600000}}')).toEqual([
    'm.createdAt',
  ]);
});

it('what only the list has is told apart', () => {
  const pulled = '{"c":{"x":1,"y":2},"l":[{"a":1,"b":[2]},{"b":[3]}],"score":7}';
  const received = '{"c":{"x":1,"y":null},"l":[{"a":1},{}]}';
  expect(compared(pulled, received)).toEqual({ differing: [], absent: ['c.y', 'l.b', 'score'] });
});

it('what is ignored is not compared, nor what is inside it', () => {
  const pulled = '{"c":{"x":1,"y":2},"cx":1,"l":[{"a":1}],"score":7}';
  const received = '{"c":{"x":2,"y":3},"cx":2,"l":[{"a":2}]}';
  const left = (...ignored: string[]): DifferingFields => compared(pulled, received, { ignored });
  expect(left('c', 'score', 'l.a')).toEqual({ differing: ['cx'], absent: [] });
  expect(left('c.x', 'l.0', 'cx')).toEqual({ differing: ['c.y'], absent: ['score'] });
});
