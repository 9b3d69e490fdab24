import { describe, expect, it } from 'vitest';
import { endings, expects, idKinds, incomplete, unexpectedAt, row, scanner } from '../../src/json/scanner.ts';

function valueEnd(json: string): number {
  scanner.load(Buffer.from(json));
  return scanner.valueEnd(0);
}

function idKind(json: string): number | undefined {
  expect(valueEnd(json)).toBe(json.length);
  return scanner.lastRow()[row.idKind];
}

describe('a value', () => {
  it('ends at the end of its string, for every position in a block of sixteen bytes', () => {
    for (let length = 0; length <= 50; length += 1) {
      const text = `"${'x'.repeat(length)}"`;
      expect(valueEnd(`${text},"rest of the text"`)).toBe(text.length);
      expect(valueEnd(text.slice(0, -1))).toBe(incomplete);
      expect(unexpectedAt(valueEnd(`"${'x'.repeat(length)}\n"`))).toBe(length + 1);
      const escaped = `"${'x'.repeat(length)}\\u00E9\\""`;
      expect(valueEnd(escaped)).toBe(escaped.length);
      for (let cut = 1; cut < escaped.length; cut += 1)
        expect(valueEnd(escaped.slice(0, cut))).toBe(incomplete);
    }
  });

  it('is not JSON at a zero byte, although one follows every text in memory', () => {
    for (const json of [
      '\0',
      '{\0}',
      '{"a"\0:1}',
      '{"a":\0}',
      '[1\0]',
      '"\0"',
      '[tr\0e]',
      '[-\0]',
      '["\\\0"]',
    ]) {
      expect(unexpectedAt(valueEnd(json))).toBe(json.indexOf('\0'));
    }
  });

  it('is not read beyond the end of its text, whatever was scanned before', () => {
    valueEnd('"a long text with a quote right here"');
    expect(valueEnd('"a long text')).toBe(incomplete);
    expect(valueEnd('12')).toBe(incomplete);
    expect(valueEnd('')).toBe(incomplete);
  });

  it('may nest deeper than memory was reserved for', () => {
    const depth = 3_000_000;
    const deep = `${'['.repeat(depth)}${']'.repeat(depth)}`;
    expect(valueEnd(deep)).toBe(2 * depth);
    expect(valueEnd(`{"id":"x"}`)).toBe(10);
    expect(scanner.lastRow()[row.idKind]).toBe(idKinds.plain);
  });
});

describe('the fields of an object', () => {
  it('are found when their keys are written with escapes', () => {
    const json = '{"\\u0069d":"a","createdA\\u0074":"b","\\u0063\\u0061tegory":"c","i\\u0064\\u0064":"d"}';
    valueEnd(json);
    const rows = scanner.lastRow();
    expect(rows[row.idKind]).toBe(idKinds.plain);
    const text = (start: number, end: number): string => json.slice(rows[start], rows[end]);
    expect(text(row.idStart, row.idEnd)).toBe('a');
    expect(text(row.createdStart, row.createdEnd)).toBe('"b"');
    expect(text(row.categoryStart, row.categoryEnd)).toBe('"c"');
  });

  it('are those of the object itself, not of objects nested in it', () => {
    valueEnd('{"x":{"id":1,"createdAt":"a"},"y":[{"category":"b"}],"idx":2,"\\n\\u00e9":3}');
    expect(scanner.lastRow().slice(row.idStart, row.spaced)).toEqual(new Int32Array(7));
  });

  it.each([
    ['{}', idKinds.missing],
    ['{"id":"a"}', idKinds.plain],
    ['{"id":-12}', idKinds.plain],
    ['{"id":"a\\u0062"}', idKinds.escaped],
    ['{"id":""}', idKinds.unusable],
    ['{"id":1.0}', idKinds.unusable],
    ['{"id":1e3}', idKinds.unusable],
    ['{"id":null}', idKinds.unusable],
    ['{"id":{"id":"a"}}', idKinds.unusable],
    ['{"id":["\\n"]}', idKinds.unusable],
    ['{"id":"a","id":"a"}', idKinds.repeated],
    ['{"id":null,"\\u0069d":"a"}', idKinds.repeated],
  ])('say what the id of %s is', (json, kind) => {
    expect(idKind(json)).toBe(kind);
  });
});

describe('the records of an array', () => {
  it('are returned in several parts when they are many', () => {
    const many = 2500;
    scanner.load(Buffer.from(`${Array.from({ length: many }, (_, i) => `{"id":${i}}`).join(', ')}]`));
    let found = scanner.records(0, expects.firstRecord);
    let count = found.rows.length / row.size;
    while (found.result === endings.rowsFull) {
      found = scanner.records(found.done, found.expects);
      count += found.rows.length / row.size;
    }
    expect(found).toMatchObject({ result: endings.arrayEnded, expects: expects.nothing });
    expect(count).toBe(many);
  });

  it('end before a record that is not complete, and before a value that is not an object', () => {
    scanner.load(Buffer.from('{"id":1},{"id":2'));
    expect(scanner.records(0, expects.firstRecord)).toMatchObject({
      result: incomplete,
      done: 9,
      expects: expects.nextRecord,
    });
    scanner.load(Buffer.from('[1],'));
    expect(scanner.records(0, expects.nextRecord)).toMatchObject({ result: endings.noObject, done: 0 });
  });
});
