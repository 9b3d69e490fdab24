import { described, describing } from '../support/described.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DataError } from '../../src/errors.ts';
import type { Envelope } from '../../src/json/page-envelope.ts';
import { PageScan } from '../../src/json/page-scan.ts';
import type { ArrayPlace } from '../../src/json/find-array.ts';
import type { ScannedRecord } from '../../src/json/scanned-record.ts';

interface Page {
  readonly records: string[];
  readonly ids: (string | undefined)[];
  readonly envelope: Envelope | undefined;
}

function scan(json: string | Uint8Array, target: ArrayPlace = 'auto', cuts: readonly number[] = []): Page {
  const bytes = typeof json === 'string' ? Buffer.from(json) : Buffer.from(json);
  const scanner = new PageScan(target);
  const edges = [0, ...[...cuts].sort((a, b) => a - b), bytes.length];
  const all: ScannedRecord[] = [];
  edges.slice(1).forEach((edge, i) => scanner.push(bytes.subarray(edges[i], edge), all));
  const envelope = scanner.end(all);
  return {
    records: all.map((lead) => Buffer.from(lead.bytes).toString()),
    ids: all.map((lead) => lead.id),
    envelope,
  };
}

const everyCut = (json: string): number[] => Array.from({ length: Buffer.byteLength(json) + 1 }, (_, i) => i);

describe('records', () => {
  const exact = [
    '{"id":"a","n":12345678901234567890,"f":1.0,"e":1e400,"s":"\\u00e9é\\/","s":2,"z":{"id":"inner"}}',
    '{"id":7,"deep":[[[{"x":[]}]]],"t":true,"f":false,"n":null,"neg":-0.5E-7}',
    '{}',
    '{"a":"\\"}],{[\\\\","id":"q"}',
  ];

  it.each([
    ['root array', `[${exact.join(',')}]`],
    ['enveloped', `{"meta":{"data":[1]},"data":[${exact.join(',')}],"next":"x"}`],
    ['nested', `{"data":{"count":4,"items":[${exact.join(',')}]},"next":null}`],
    ['pretty', JSON.stringify({ leads: [1] }).replace('1', `\n  ${exact.join(' ,\r\n\t')} \n`)],
  ])('keep their own bytes wherever the chunks are cut: %s', (_, json) => {
    for (const cut of everyCut(json)) {
      const page = scan(json, 'auto', [cut]);
      expect(page.records).toEqual(exact);
      expect(page.ids).toEqual(['a', '7', undefined, 'q']);
      expect(page.envelope).toBeDefined();
    }
    expect(scan(json, 'auto', everyCut(json)).records).toEqual(exact);
  });

  it.each([8191, 8192, 9001, 16_384, 40_000])('keep their own bytes in chunks of %i bytes', (size) => {
    const lengths = Array.from({ length: 300 }, (_, i) => (i % 37 === 0 ? 20_000 : i % 11 === 0 ? 4096 : i));
    const records = lengths.map((length, i) => `{"id":"${i}","text":"${'é'.repeat(length / 2)}"}`);
    const cutsOf = (json: string): number[] =>
      Array.from({ length: Math.floor(Buffer.byteLength(json) / size) }, (_, i) => (i + 1) * size);
    const json = `{"data":[${records.join(' , ')}],"next":"x"}`;
    const page = scan(json, 'auto', cutsOf(json));
    expect(page.records).toEqual(records);
    expect(page.ids).toEqual(lengths.map((_, i) => String(i)));
    expect(page.envelope?.root).toEqual({ data: [], next: 'x' });
    for (const nth of [2, 38, 75, 150, 299]) {
      const broken = `[${records.map((one, i) => (i + 1 === nth ? one.replace('"text"', 'text') : one)).join()}]`;
      const at = Buffer.byteLength(broken.slice(0, broken.indexOf(',text') + 1));
      expect(describing(() => scan(broken, 'auto', cutsOf(broken)))).toThrow(
        `unexpected 't' at byte ${at}, in lead ${nth}`,
      );
    }
  });

  it('lose only the white space between tokens', () => {
    const spaced = '{ "id" : " a b " ,\n\t"list" : [ 1 , 2 ] ,\r\n "o" : { } }';
    expect(scan(`[ ${spaced} ]`).records).toEqual(['{"id":" a b ","list":[1,2],"o":{}}']);
  });

  it('are found by any pointer', () => {
    const json = '{"a/b":{"data":[{"no":1}],"0":[[],[{"id":"x"}]]}}';
    expect(scan(json, ['a/b', '0', '1'])).toMatchObject({ records: ['{"id":"x"}'] });
    expect(scan('[{"id":"x"}]', []).records).toEqual(['{"id":"x"}']);
    expect(describing(() => scan(json, ['a/b', 'none']))).toThrow(/no array at \/a~1b\/none/);
  });

  it('may be followed by white space, after a byte order mark', () => {
    expect(scan('\ufeff [{"id":"x"}] \r\n', 'auto', [1, 2, 3]).records).toEqual(['{"id":"x"}']);
  });

  it('nest a hundred thousand levels deep without a crash', () => {
    const deep = `{"id":"d","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    expect(scan(`[${deep}]`, 'auto', [50_000]).records).toEqual([deep]);
  });
});

describe('the usual places', () => {
  it('ignore an empty array when another one holds objects', () => {
    expect(scan('{"items":[],"data":[{"id":1}]}').records).toEqual(['{"id":1}']);
    expect(scan('{"data":[{"id":1}],"items":[]}').records).toEqual(['{"id":1}']);
  });

  it('may hold an empty array only', () => {
    expect(scan('{"data":[],"next":3}')).toMatchObject({
      records: [],
      envelope: { root: { data: [], next: 3 } },
    });
    expect(scan('[]').records).toEqual([]);
    expect(scan(' [ ] ').records).toEqual([]);
  });

  it('are an error when two of them hold objects', () => {
    expect(describing(() => scan('{"data":[{"id":1}],"leads":[{"id":2}]}'))).toThrow(/two arrays/);
  });

  it('are an error when one of them stands there twice, and the second is not empty', () => {
    const twice = (text: string, target?: ArrayPlace) => describing(() => scan(text, target));
    expect(twice('{"data":[{"id":1}],"data":[{"id":2}]}')).toThrow(/holds \/data twice/);
    expect(twice('{"a":{"b":[{"id":1}]},"a":{"b":[{"id":2}]}}', ['a', 'b'])).toThrow(/holds \/a\/b twice/);
    expect(scan('{"data":[{"id":1}],"data":[]}').ids).toEqual(['1']);
  });

  it('are named in the hint when two arrays of objects are elsewhere', () => {
    const hint = hintOf(() => scan('{"contacts":[{"id":1}],"people":[{"id":2}]}'));
    expect(hint).toContain('leads config set api.items /contacts');
    expect(describing(() => scan('{"error":"x"}'))).toThrow(DataError);
    expect(describing(() => scan('17'))).toThrow(DataError);
  });

  it.each(['content', 'value', 'docs', 'hits', 'rows', 'elements', 'nodes', 'edges', 'list', 'contacts'])(
    'are completed by an array that is the only one: %s',
    (name) => {
      const array = `"${name}":[{"id":1},{"id":2}]`;
      for (const page of [`{${array}}`, `{"a":{"b":{"c":{${array}}}},"page":1}`]) {
        expect(scan(page).records).toEqual(['{"id":1}', '{"id":2}']);
      }
    },
  );

  it('do not hold the errors of an answer', () => {
    expect(describing(() => scan('{"errors":[{"message":"no"}]}'))).toThrow(DataError);
    expect(scan('{"content":[],"totalElements":0}').records).toEqual([]);
  });

  it('are returned with the rest of the answer, large integers as their digits', () => {
    const { envelope } = scan(
      '{"a":1,"data":[{"id":1}],"cursor":12345678901234567890,"s":"1234567890123456789"}',
    );
    expect(envelope).toEqual({
      root: { a: 1, data: [], cursor: '12345678901234567890', s: '1234567890123456789' },
      path: ['data'],
    });
  });
});

describe('what is not JSON', () => {
  it.each([
    '[{"id":1},]',
    '[,{"id":1}]',
    '[{"id":1} {"id":2}]',
    '[{"id":01}]',
    '[{"id":1.}]',
    '[{"id":+1}]',
    '[{"id":NaN}]',
    '[{"id":"\\x"}]',
    '[{"id":"\\u12g4"}]',
    '[{"id":"a\nb"}]',
    "[{'id':1}]",
    '[{"id":1,}]',
    '[{id:1}]',
    '[{"id" 1}]',
    '[{"id":tru}]',
    '[{"id":1}}',
    '[{"id":[1}]}]',
    '[{"id":1}]x',
    '[{"id":1}][]',
    '{"data":[{"id":1}],}',
    '{"data":[{"id":1}]]',
    '{"a":01,"data":[]}',
    '<html></html>',
    '[\u00a0{"id":1}]',
  ])('is rejected wherever the chunks are cut: %s', (json) => {
    expect(describing(() => JSON.parse(json) as unknown)).toThrow();
    for (const cut of everyCut(json)) expect(describing(() => scan(json, 'auto', [cut]))).toThrow(DataError);
  });

  it('names the byte and the record', () => {
    expect(describing(() => scan('{"data":[{"id":1},{"id":x}]}'))).toThrow(
      "unexpected 'x' at byte 24, in lead 2",
    );
    expect(describing(() => scan('[{"id":1},2]'))).toThrow('lead 2 of the page is not a JSON object');
  });

  it.each([[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf5, 0x80, 0x80, 0x80]])(
    'includes bytes that are not UTF-8: %s',
    (...bytes) => {
      const page = (tail: string): Buffer =>
        Buffer.concat([
          Buffer.from(`{"data":[{"id":1},{"id":2,"s":"`),
          Buffer.from(bytes),
          Buffer.from(tail),
        ]);
      expect(describing(() => scan(page('"}]}')))).toThrow('not UTF-8, in lead 2');
      const outside = [Buffer.from('{"data":[],"s":"'), Buffer.from(bytes), Buffer.from('"}')];
      expect(describing(() => scan(Buffer.concat(outside)))).toThrow('not UTF-8');
    },
  );

  it('is distinguished from a page that was cut off', () => {
    const json = '{"meta":{"n":1},"data":[{"id":1,"s":"\\u00e9"},{"id":2}],"next":null}';
    for (let length = 0; length < json.length; length += 1) {
      expect(scan(json.slice(0, length)).envelope).toBeUndefined();
    }
    expect(scan(json).envelope).toBeDefined();
  });
});

describe('compared with JSON.parse', () => {
  const object = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 4 }));
  const withId = fc
    .tuple(object, fc.oneof(fc.string({ minLength: 1 }), fc.integer()))
    .map(([o, id]) => ({ ...o, id }));
  const spaces = fc.constantFrom(undefined, 1, '\t', ' \r\n ');

  it('the scan finds every record of every page', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(object, withId), { maxLength: 6 }),
        spaces,
        fc.array(fc.nat(), { maxLength: 4 }),
        fc.constantFrom('root', 'data', 'leads'),
        (records, space, cuts, place) => {
          const page = place === 'root' ? records : { before: [1, { a: 2 }], [place]: records, after: 'x' };
          const json = JSON.stringify(page, null, space);
          const length = Buffer.byteLength(json);
          const found = scan(
            json,
            place === 'root' ? [] : [place],
            cuts.map((cut) => cut % (length + 1)),
          );
          expect(found.records).toEqual(records.map((record) => JSON.stringify(record)));
          expect(found.ids).toEqual(records.map((record) => usableId(record)));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('the scan accepts and rejects the same pages', () => {
    const mutated = fc
      .tuple(
        object,
        fc.nat(),
        fc.constantFrom('', '"', ',', '{', '}', '[', ']', '\\', '0', '-', '.', 'e', '\n', '\u0001', ':'),
      )
      .map(([o, at, what]) => {
        const json = JSON.stringify(o);
        const i = at % json.length;
        return json.slice(0, i) + what + json.slice(i + 1);
      });
    fc.assert(
      fc.property(mutated, fc.nat(), (json, cut) => {
        const page = `[${json}]`;
        const valid = (): boolean => {
          try {
            const value = JSON.parse(page) as unknown[];
            return value.every((one) => typeof one === 'object' && one !== null && !Array.isArray(one));
          } catch {
            return false;
          }
        };
        const accepted = (): boolean => {
          try {
            return scan(page, [], [cut % (page.length + 1)]).envelope !== undefined;
          } catch {
            return false;
          }
        };
        expect(accepted()).toBe(valid());
      }),
      { numRuns: 2000 },
    );
  });
});

function usableId({ id }: Record<string, unknown>): string | undefined {
  if (typeof id === 'string' && id !== '') return id;
  return typeof id === 'number' && /^-?\d+$/.test(JSON.stringify(id)) ? JSON.stringify(id) : undefined;
}

function hintOf(run: () => unknown): string | undefined {
  try {
    run();
  } catch (error) {
    if (error instanceof DataError) return (described(error) as DataError).hint;
  }
  return undefined;
}
