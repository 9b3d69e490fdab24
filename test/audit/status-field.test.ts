import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { differingFields, StatusField } from '../../src/audit/compare-payloads.ts';

const status = new StatusField(['status', 'deliveryStatus', 'state']);
const uncompared = { statusField: status, idNames: ['id', 'ref'] };

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
    expect(status.digest(Buffer.from(json))).toBe(hash('sha256', expected));
  });

  it('is the same for records longer than any before', () => {
    const long = `{"id":"a","note":"${'x'.repeat(20_000)}"`;
    expect(status.digest(Buffer.from(`${long},"status":"new"}`))).toBe(hash('sha256', `${long}}`));
    expect(status.digest(Buffer.from('{"id":"b","status":"new"}'))).toBe(hash('sha256', '{"id":"b"}'));
  });

  it('goes by the dotted name that the profile says', () => {
    const named = new StatusField(['meta.state']);
    const digest = (json: string): string => named.digest(Buffer.from(json));
    expect(digest('{"id":"a","meta":{"state":"new","n":1},"status":"kept"}')).toBe(
      hash('sha256', '{"id":"a","meta":{"n":1},"status":"kept"}'),
    );
    expect(digest('{"id":"a","meta":"state"}')).toBe(hash('sha256', '{"id":"a","meta":"state"}'));
  });
});

const fields = (pulled: string, received: string): readonly string[] =>
  differingFields(Buffer.from(pulled), Buffer.from(received), uncompared);

it('only the fields whose values differ are named', () => {
  expect(fields('{"id":"a","n":10,"status":"sent"}', '{ "n": 1e1, "id": "\\u0061" }')).toEqual([]);
  expect(fields('{"id":"a","n":1,"status":"sent"}', '{"id":"a","n":1,"status":"new"}')).toEqual([]);
  expect(fields('{"id":"a","c":{"x":1,"y":2}}', '{"id":"a","c":{"x":2,"y":2},"d":null}')).toEqual([
    'c.x',
    'd',
  ]);
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
