import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readLead } from '../../src/lead/read-leads.ts';

const read = (json: string) => readLead(Buffer.from(json));
const proper =
  '{"id":"l1","category":"solar","contact":{"name":"A","email":"a@b.c","phone":"1"},"metadata":{"source":"x"},"createdAt":"2026-01-01T00:00:00Z"}';

describe('reading one lead', () => {
  it('keeps its bytes and reads its id', () => {
    const reading = read(proper);
    expect(reading).toMatchObject({ ok: true, warnings: [] });
    if (!reading.ok) return;
    expect(Buffer.from(reading.lead.bytes).toString()).toBe(proper);
    expect(reading.lead).toMatchObject({
      id: 'l1',
      category: 'solar',
      createdAt: '2026-01-01T00:00:00Z',
    });
  });

  it.each([
    ['{"id":"a"}', 'a'],
    ['{"id":"\\u0061\\n"}', 'a\n'],
    ['{"\\u0069d":"a"}', 'a'],
    ['{"id":12345678901234567890}', '12345678901234567890'],
    ['{"id":-7}', '-7'],
    [' {\n"id" : "a" } ', 'a'],
    ['\ufeff{"id":"a"}', 'a'],
    ['{"x":{"id":1,"id":2},"id":"a"}', 'a'],
    ['{"__proto__":{"id":"p"},"id":"a"}', 'a'],
  ])('reads the id of %s', (json, id) => {
    const reading = read(json);
    expect(reading.ok && reading.lead.id).toBe(id);
  });

  it.each([
    ['', 'empty'],
    ['  ', 'empty'],
    ['null', 'not a JSON object'],
    ['12', 'is not JSON'],
    ['12\n', 'not a JSON object'],
    ['[{"id":1}]', 'not a JSON object'],
    ['nul', 'not JSON'],
    ['{"id":"a"', 'too early'],
    ['{"id":"a"}}', "unexpected '}' at byte 10"],
    ['{"id":"a",}', 'not JSON'],
    ['{"id":"a","id":"a"}', 'more than once'],
    ['{"id":"a","\\u0069d":"b"}', 'more than once'],
    ['{"category":"x"}', "no 'id'"],
    ['{"id":""}', 'no string or integer'],
    ['{"id":1.5}', 'no string or integer'],
    ['{"id":1e3}', 'no string or integer'],
    ['{"id":null}', 'no string or integer'],
    ['{"id":{"id":1}}', 'no string or integer'],
  ])('rejects %s', (json, detail) => {
    const reading = read(json);
    expect(reading.ok ? '' : reading.detail).toContain(detail);
  });

  it('rejects bytes that are not UTF-8', () => {
    const body = Buffer.concat([Buffer.from('{"id":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    expect(readLead(body)).toEqual({ ok: false, detail: 'the body is not UTF-8' });
  });

  it('warns of every other deviation from the specification', () => {
    const reading = read(
      '{"id":7,"category":12345678901234567890,"contact":[],"metadata":{},"createdAt":"yesterday"}',
    );
    expect(reading.ok && reading.warnings).toEqual([
      'id is not a string',
      'category is not a string',
      'contact is not an object',
      'metadata.source is missing',
      'createdAt is not an ISO 8601 UTC timestamp',
    ]);
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (body) => {
        expect(typeof readLead(body).ok).toBe('boolean');
      }),
    );
    const deep = `{"id":"d","x":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    expect(read(deep).ok).toBe(true);
  });
});
