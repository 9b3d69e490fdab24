import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import {
  bytesOfText,
  identifier,
  LiteralError,
  multirange,
  sql,
  textOfBytes,
  keywordArray,
} from '../../../src/inbox/postgres/sql.ts';
import { superuser } from '../../support/postgres/address.ts';
import { sharedPostgres } from '../../support/postgres/shared.ts';

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

describe('a literal', () => {
  it('is not made of anything but whole numbers, bytes and words of our own', () => {
    for (const number of [1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      expect(() => sql`${number}`).toThrow(LiteralError);
      expect(() => sql`${[number]}`).toThrow(LiteralError);
    }
    expect(() => keywordArray(["a'b"])).toThrow(LiteralError);
    expect(() => multirange("{[1,2)}'")).toThrow(LiteralError);
    expect(() => identifier('a\0b')).toThrow(LiteralError);
    expect(() => identifier('\ud800')).toThrow(LiteralError);
  });
});

const address = await sharedPostgres();

describe.skipIf(address === undefined)('a literal in a statement', () => {
  const client = address === undefined ? undefined : superuser(address);
  afterAll(() => client?.end({ timeout: 1 }));

  it.each(['on', 'off'])(
    'is the value that it was made of, with standard_conforming_strings = %s',
    async (setting) => {
      const connection = await client?.reserve();
      if (connection === undefined) throw new Error('no database');
      await connection.unsafe(
        `SET standard_conforming_strings = ${setting}; SET array_nulls = ${setting}; SET escape_string_warning = off`,
      );
      const bytes = fc.uint8Array({ maxLength: 300 });
      const values = fc.tuple(
        bytes,
        fc.array(bytes, { maxLength: 20 }),
        fc.maxSafeInteger(),
        fc.array(fc.maxSafeInteger()),
        fc.array(fc.boolean()),
      );
      await fc.assert(
        fc.asyncProperty(values, async ([one, many, number, numbers, booleans]) => {
          const query = sql`SELECT encode(${one}, 'hex') AS one, ${number}::int8::text AS number,
          (SELECT coalesce(json_agg(encode(b, 'hex') ORDER BY i), '[]') FROM unnest(${many}::bytea[]) WITH ORDINALITY AS m (b, i)) AS many,
          to_json(${numbers}::int8[])::text AS numbers, to_json(${booleans}::bool[]) AS booleans`;
          const [row] = await connection.unsafe(query.text).simple();
          const hex = (value: Uint8Array) => Buffer.from(value).toString('hex');
          expect(row).toEqual({
            one: hex(one),
            number: String(number),
            many: many.map(hex),
            numbers: JSON.stringify(numbers.map((value) => value + 0)),
            booleans,
          });
        }),
        { numRuns: 50 },
      );
      connection.release();
    },
  );

  it('names an object whatever its name holds', async () => {
    const [row] = (await client?.unsafe(sql`SELECT 1 AS ${identifier(`a"b'c\\d`)}`.text)) ?? [];
    expect(Object.keys(row ?? {})).toEqual([`a"b'c\\d`]);
  });
});
