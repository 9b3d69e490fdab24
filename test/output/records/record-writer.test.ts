import fc from 'fast-check';
import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { rejectionOf } from '../../support/said.ts';
import { withMoreColumns } from '../../../src/output/records/csv.ts';
import { recordWriter, streamSink } from '../../../src/output/records/record-writer.ts';
import type { RecordFormat, WriterOptions } from '../../../src/output/records/record-types.ts';

async function written(
  format: RecordFormat,
  records: readonly string[],
  options: WriterOptions = {},
): Promise<string> {
  const stream = new PassThrough();
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  const writer = await recordWriter(format, streamSink(stream), options);
  for (const record of records) await writer.write([{ bytes: Buffer.from(record) }]);
  await writer.end();
  return Buffer.concat(chunks).toString('utf8');
}

const odd = '{"id":12345678901234567890,"a":1.0,"b":1e400,"c":"\\u00e9é","a":2}';

describe('ndjson', () => {
  it('writes the record as it was sent, whatever it holds', async () => {
    expect(await written('ndjson', [odd, '{}'])).toBe(`${odd}\n{}\n`);
  });

  it('keeps order and bytes across its own buffer, also for a record larger than that', async () => {
    const records = Array.from({ length: 300 }, (_, i) => `{"id":"${i}","x":"${'y'.repeat(i * 37)}"}`);
    records.splice(100, 0, `{"id":"big","x":"${'z'.repeat(700_000)}"}`);
    expect(await written('ndjson', records)).toBe(`${records.join('\n')}\n`);
  });

  it('escapes what could drive a terminal, only there', async () => {
    const record = '{"name":"a\u009b31m\u202eb"}';
    expect(await written('ndjson', [record])).toBe(`${record}\n`);
    expect(await written('ndjson', [record], { terminal: true })).toBe('{"name":"a\\u009b31m\\u202eb"}\n');
  });

  it('narrows to fields in the record’s shape, with its own numbers', async () => {
    const record = '{"id":1,"contact":{"name":"A","email":"e"},"n":1.50,"metadata":{"x":[1,{"y":2}]}}';
    expect(await written('ndjson', [record], { fields: ['n', 'contact.email', 'metadata', 'no.such'] })).toBe(
      '{"n":1.50,"contact":{"email":"e"},"metadata":{"x":[1,{"y":2}]}}\n',
    );
  });
});

describe('fields of lists', () => {
  it.each([
    [['tags.0'], '{"tags":["a"]}'],
    [['tags.2', 'tags.0'], '{"tags":["a",null,"c"]}'],
    [['tags.1', 'tags'], '{"tags":["a","b","c"]}'],
    [['forms.0.q', 'id'], '{"forms":[{"q":1.0}],"id":1}'],
    [['tags.7'], '{}'],
    [['0.x'], '{"0":{"x":3}}'],
  ])('%j keep their place', async (fields, expected) => {
    const record = '{"id":1,"tags":["a","b","c"],"forms":[{"q":1.0,"a":[2]}],"0":{"x":3}}';
    expect(await written('ndjson', [record], { fields })).toBe(`${expected}\n`);
  });
});

describe('json', () => {
  it.each([[[]], [['{"id":1}']], [['{"id":1}', odd]]])('writes one array of %j', async (records) => {
    const text = await written('json', records);
    expect(JSON.parse(text)).toEqual(records.map((record) => JSON.parse(record) as unknown));
    for (const record of records) expect(text).toContain(record);
  });
});

describe('csv', () => {
  it('has the union of the columns in order of appearance', async () => {
    const text = await written('csv', [
      '{"id":"1","contact":{"name":"A"}}',
      '{"id":"2","contact":{"phone":"5"},"tags":["x",1],"gone":null}',
    ]);
    expect(text).toBe('id,contact.name,contact.phone,tags,gone\r\n1,A,,,\r\n2,,5,"[""x"",1]",\r\n');
  });

  it('tells in how many cells half a character was replaced', async () => {
    const records = [
      String.raw`{"id":"a\ud83d","b":"\ud83d\ude00","c":["\ud800"]}`,
      '{"id":"é\\udc00","b":"日"}',
    ];
    for (const fields of [undefined, ['id', 'b', 'c']]) {
      const told: number[] = [];
      const text = await written('csv', records, { fields, onReplaced: (cells) => told.push(cells) });
      expect(text).toBe('id,b,c\r\na\ufffd,😀,"[""\\ud800""]"\r\né\ufffd,日,\r\n');
      expect(told).toEqual([2]);
    }
  });

  it('writes the columns of --fields at once, objects as JSON', async () => {
    const text = await written('csv', ['{"id":12345678901234567890,"contact":{"name":"A"}}'], {
      fields: ['contact', 'id', 'contact.name', 'nothing'],
    });
    expect(text.split('\r\n')[1]).toBe('"{""name"":""A""}",12345678901234567890,A,');
  });

  it.each(['=1+1', '+49 30', '-x', '@cmd', '\tx', '\rx'])(
    'makes %j text for a spreadsheet',
    async (value) => {
      const text = await written('csv', [JSON.stringify({ [value]: value })]);
      const cells = text.split('\r\n').slice(0, 2).join('|');
      expect(cells.replaceAll('"', '')).toBe(`'${value}|'${value}`);
    },
  );

  it('leaves cells as they are without escaping, for programs', async () => {
    const record = '{"phone":"+49 30 1","sum":"=1+1"}';
    expect(await written('csv', [record], { escapeFormulas: false })).toBe('phone,sum\r\n+49 30 1,=1+1\r\n');
  });

  it('gets more columns behind its own, wherever its bytes are cut', async () => {
    const text = await written('csv', ['{"id":"1","note":"two\\r\\nlines, \\"quoted\\""}', '{"id":"2"}']);
    const bytes = Buffer.from(text);
    for (let size = 1; size <= bytes.length; size += 1) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      );
      const wider: Uint8Array[] = [];
      for await (const rows of withMoreColumns(Readable.from(chunks), ['a,b', '=c'], {})) wider.push(rows);
      expect(Buffer.concat(wider).toString()).toBe(
        `id,note,"a,b",'=c\r\n1,"two\r\nlines, ""quoted""",,\r\n2,,,\r\n`,
      );
    }
  });

  it('begins with a byte order mark when asked to', async () => {
    expect(await written('csv', ['{"n":"é"}'], { byteOrderMark: true })).toBe('\ufeffn\r\né\r\n');
  });

  it('writes a field as often as it is named', async () => {
    const text = await written('csv', ['{"id":"1","n":2}'], { fields: ['id', 'n', 'id'] });
    expect(text).toBe('id,n,id\r\n1,2,1\r\n');
  });

  it('reaches the elements of a list by their index', async () => {
    const record = '{"tags":["a","b"],"forms":[{"q":"x","deep":[[1,{"y":2}]]}],"n":[]}';
    const fields = ['tags.1', 'forms.0.q', 'forms.0.deep.0.1.y', 'tags', 'tags.2', 'n.0'];
    const [, row] = (await written('csv', [record], { fields })).split('\r\n');
    expect(row).toBe('b,x,2,"[""a"",""b""]",,');
  });

  it('leaves numbers alone', async () => {
    expect(await written('csv', ['{"n":-1.50}'])).toBe('n\r\n-1.50\r\n');
  });

  it('quotes commas, quotes and line ends', async () => {
    expect(await written('csv', [JSON.stringify({ a: 'x,y', b: 'q"q', c: 'l\nl' })])).toBe(
      'a,b,c\r\n"x,y","q""q","l\nl"\r\n',
    );
  });

  it('is the same through its temporary file', async () => {
    const records = Array.from({ length: 3000 }, (_, i) => `{"id":"${i}","x":"${'y'.repeat(1000)}"}`);
    records.push('{"late":1}');
    const lines = (await written('csv', records)).split('\r\n');
    expect(lines[0]).toBe('id,x,late');
    expect(lines.slice(1, -1).map((line) => line.split(',')[0])).toEqual([
      ...Array.from({ length: 3000 }, (_, i) => String(i)),
      '',
    ]);
  });

  it('refuses more columns than anybody can use', async () => {
    const record = JSON.stringify(Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [`k${i}`, 1])));
    expect(await rejectionOf(written('csv', [record]))).toBe(
      'the leads have more than 10000 different fields; name the columns with --fields',
    );
  });

  it('reads any text back, whatever keys and values hold', async () => {
    const key = fc.string({ minLength: 1 }).filter((text) => !text.includes('.') && text !== '__proto__');
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(key, fc.string({ unit: 'grapheme' }), { minKeys: 1 }),
        async (record) => {
          const [header = [], row = []] = parseCsv(await written('csv', [JSON.stringify(record)]));
          const read = Object.fromEntries(header.map((name, i) => [unarmed(name), unarmed(row[i] ?? '')]));
          expect(read).toEqual(
            Object.fromEntries(Object.entries(record).map(([name, text]) => [unarmed(name), unarmed(text)])),
          );
        },
      ),
      { numRuns: 200 },
    );
  });
});

const unarmed = (text: string): string => text.replace(/^'(?=[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])/, '');

function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    row.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}
