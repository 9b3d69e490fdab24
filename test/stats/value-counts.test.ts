import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseExact } from '../../src/json/exact.ts';
import { FieldValues, mostValues, ValueCounts } from '../../src/stats/lead-counts.ts';

function counted(values: readonly string[]): ValueCounts {
  const counts = new ValueCounts();
  for (const value of values) counts.add(value);
  return counts;
}

describe('counts of values', () => {
  it('rank by frequency, then by text, and sum the rest', () => {
    const counts = counted(['b', 'a', 'c', 'c', '__proto__']);
    expect(counts.ranked(2)).toEqual({
      listed: [
        ['c', 2],
        ['__proto__', 1],
      ],
      remaining: 2,
    });
    expect(counts.ranked(Infinity).remaining).toBe(0);
    expect(counts.isFull).toBe(false);
  });

  it('hold a bounded number of values, and count later ones as other ones', () => {
    const counts = new ValueCounts();
    for (let i = 0; i < mostValues + 5; i += 1) counts.add(`v${i}`);
    counts.add('v0');
    expect(counts.isFull).toBe(true);
    expect(counts.ranked(1).listed).toEqual([['v0', 2]]);
    const { listed, remaining } = counts.ranked(Infinity);
    expect(listed).toHaveLength(mostValues);
    expect(remaining).toBe(5);
  });

  it('hold a bounded amount of text, however long a value is', () => {
    const counts = new ValueCounts();
    for (let i = 0; i < 40; i += 1) counts.add(String(i).padEnd(1024 * 1024, 'x'));
    expect(counts.ranked(Infinity).listed.length).toBeLessThanOrEqual(16);
    expect(counts.ranked(Infinity).remaining).toBeGreaterThanOrEqual(24);
  });
});

describe('values of a field', () => {
  const record = {
    category: 'so\u00eflar',
    metadata: { source: null, utm: { medium: 'cpc' }, score: 0.6, say: 'a "b"\\', empty: '' },
    tags: ['a', 'b', 'a', 1, { x: [] }],
    none: [],
    'dotted.key': true,
    state: 7,
    status: 'new',
  };
  const json = JSON.stringify(record).replace('{', '{"big":9389721290680903267,"fine":1.0,');
  /** The values, which are the same whether the record is parsed or not. */
  const read = (...paths: readonly string[]): readonly string[] => {
    const values = new FieldValues([{ key: '', title: '', paths }]);
    const found = values.ofBytes({ bytes: Buffer.from(json) })[0] ?? [];
    const source = Buffer.from(`[${json},{"category":"other"}]`);
    const [start, end] = [1, 1 + Buffer.byteLength(json)];
    expect(values.ofBytes({ bytes: source.subarray(start, end), source, start, end })[0]).toEqual(found);
    expect(values.ofRecord(parseExact(json))[0]).toEqual(found);
    return found;
  };

  it.each([
    ['category', ['so\u00eflar']],
    ['big', ['9389721290680903267']],
    ['fine', ['1']],
    ['metadata.source', ['(none)']],
    ['metadata.absent.deeper', ['(none)']],
    ['metadata.source.deeper', ['(none)']],
    ['metadata.utm.medium', ['cpc']],
    ['metadata.utm', ['(object)']],
    ['metadata.score', ['0.6']],
    ['metadata.say', ['a "b"\\']],
    ['metadata.empty', ['']],
    ['tags', ['a', 'b', '1', '(object)']],
    ['tags.1', ['b']],
    ['tags.9', ['(none)']],
    ['none', ['(none)']],
    ['dotted.key', ['true']],
  ])('at %s', (path, expected) => {
    expect(read(path)).toEqual(expected);
  });

  it('that is deeply nested is an object', () => {
    const bytes = Buffer.from(
      `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)},"b":{"c":${'{"d":'.repeat(20_000)}1${'}'.repeat(20_000)}}}`,
    );
    const facets = ['a', 'b.c', 'b'].map((path) => ({ key: path, title: path, paths: [path] }));
    expect(new FieldValues(facets).ofBytes({ bytes })).toEqual([['(object)'], ['(object)'], ['(object)']]);
  });

  it('under several names is the first text', () => {
    expect(read('state', 'deliveryStatus', 'status')).toEqual(['new']);
    expect(read('state', 'deliveryStatus')).toEqual(['(none)']);
  });

  it('are those of the parsed record, whatever the record holds', () => {
    const names = ['a', 'b', 'a.b', '\\', 'c'];
    const paths = ['a', 'a.b', 'b.c', 'c.a.b', 'b.1'];
    const values = new FieldValues(paths.map((path) => ({ key: path, title: path, paths: [path] })));
    const name = fc.constantFrom(...names);
    const { value } = fc.letrec<{ value: string }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom('1.50', '-0', 'true', 'null', '"x"', '"\\u0061\\""', '"}],{"', '{}', '[]'),
        fc.array(tie('value'), { maxLength: 3 }).map((all) => `[${all.join(',')}]`),
        fc
          .array(fc.tuple(name, tie('value')), { maxLength: 4 })
          .map((all) => `{${all.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`),
      ),
    }));
    const object = fc
      .array(fc.tuple(name, value), { maxLength: 5 })
      .map((all) => `{${all.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`);
    fc.assert(
      fc.property(object, (text) => {
        expect(values.ofBytes({ bytes: Buffer.from(text) })).toEqual(values.ofRecord(parseExact(text)));
      }),
      { numRuns: 2000 },
    );
  });
});
