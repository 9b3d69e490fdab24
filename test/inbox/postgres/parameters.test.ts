import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { connect } from '../../../src/inbox/postgres/connection/connect.ts';
import {
  bytesOfText,
  identifier,
  nullable,
  own,
  ParameterError,
  sql,
  statements,
  textOfBytes,
} from '../../../src/inbox/postgres/sql.ts';
import { urlOf } from '../../support/postgres/address.ts';
import { sharedPostgres } from '../../support/postgres/shared.ts';
import { locationOf } from './location.ts';

const text = fc.string({
  unit: fc.oneof(
    fc.nat(0xffff).map((code) => String.fromCharCode(code)),
    fc.constantFrom('\0', '\ud800', '\udfff', '"', "'", '\\', 'é', '\u{1f600}'),
  ),
});

describe('a text as bytes', () => {
  it('is the same text again, and no other text has its bytes', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(textOfBytes(bytesOfText(a))).toBe(a);
        expect(Buffer.compare(bytesOfText(a), bytesOfText(b)) === 0).toBe(a === b);
      }),
    );
  });
});

describe('a statement', () => {
  it('takes whole numbers only, and lists of one type', () => {
    for (const number of [1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      expect(() => sql`${number}`).toThrow(ParameterError);
      expect(() => sql`${[number]}`).toThrow(ParameterError);
    }
    expect(() => sql`${[1, 'a'] as unknown as number[]}`).toThrow(ParameterError);
    expect(() => identifier('a\0b')).toThrow(ParameterError);
    expect(() => identifier('\ud800')).toThrow(ParameterError);
  });

  it('holds none of its values, and ends where the template says so, whatever is in a name', () => {
    const inner = sql`b = ${Buffer.from('secret;')}`;
    const all = statements(
      sql`SELECT ${1} WHERE ${inner};`,
      undefined,
      sql`SELECT ${own('x;y')}::text; SELECT ${identifier('a;b')}`,
    );
    expect(all.statements.map(({ text: one }) => one)).toEqual([
      'SELECT $1 WHERE b = $2',
      'SELECT $1::text',
      'SELECT "a;b"',
    ]);
  });
});

const address = await sharedPostgres();

describe.skipIf(address === undefined)('a parameter', async () => {
  if (address === undefined) return;
  const connections = await connect(locationOf(urlOf(address)));
  afterAll(() => connections.close());

  it('reaches the database as the value that it was made of', async () => {
    const bytes = fc.uint8Array({ maxLength: 300 });
    const orNothing = <T>(values: fc.Arbitrary<T>) => fc.array(fc.option(values, { nil: undefined }));
    const values = fc.tuple(
      bytes,
      orNothing(bytes),
      fc.maxSafeInteger(),
      orNothing(fc.maxSafeInteger()),
      orNothing(fc.boolean()),
      orNothing(text.filter((one) => !/[\0\p{Surrogate}]/u.test(one))),
    );
    const hex = (value: Uint8Array) => Buffer.from(value).toString('hex');
    await fc.assert(
      fc.asyncProperty(values, async ([one, many, number, numbers, booleans, texts]) => {
        const [[row] = [], [name] = []] = await connections.use((connection) =>
          connection.run(sql`SELECT encode(${one}, 'hex') AS one, ${number} AS number,
            (SELECT coalesce(json_agg(encode(b, 'hex') ORDER BY i), '[]') FROM unnest(${nullable('bytea', many)}) WITH ORDINALITY AS m (b, i)) AS many,
            to_json(${nullable('int8', numbers)}) AS numbers, to_json(${nullable('bool', booleans)}) AS booleans,
            to_json(${nullable('text', texts)}) AS texts, ${number} > 0 AS is_positive, NULL AS nothing;
            SELECT 'é' AS ${identifier(`a"b'c\\dé`)};`),
        );
        expect({
          ...row,
          numbers: undefined,
          booleans: undefined,
          texts: undefined,
          many: undefined,
        }).toEqual({
          one: hex(one),
          number: String(number),
          is_positive: number > 0,
          nothing: null,
        });
        const listed = ['many', 'numbers', 'booleans', 'texts'].map(
          (key) => JSON.parse(String(row?.[key])) as unknown,
        );
        const orNull = (list: readonly unknown[]) => list.map((item) => item ?? null);
        expect(listed).toEqual([
          orNull(many.map((item) => item && hex(item))),
          orNull(numbers.map((item) => item && item + 0)),
          orNull(booleans),
          orNull(texts),
        ]);
        expect(name).toEqual({ [`a"b'c\\dé`]: 'é' });
      }),
      { numRuns: 50 },
    );
  });
});
