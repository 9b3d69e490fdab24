import fc from 'fast-check';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
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

it('fills the column of the id from the field that identifies leads', async () => {
  const record = '{"contact":{"id":26,"name":"Ada"},"id":"of the form"}';
  expect(await written('csv', [record], { idName: 'contact.id' })).toBe(
    'id,category,contact.name,contact.email,contact.phone,metadata.source,createdAt,other\r\n' +
      '26,,Ada,,,,,"{""id"":""of the form""}"\r\n',
  );
  expect(await written('csv', [record], { idName: 'contact.id', fields: ['id', 'contact.id'] })).toMatch(
    /^id,.*,contact\.id,other\r\n26,,Ada,,,,,26,/,
  );
  expect(await written('csv', [record], { idName: 'contact.id', columns: ['id'] })).toBe(
    'id\r\nof the form\r\n',
  );
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

const header = 'id,category,contact.name,contact.email,contact.phone,metadata.source,createdAt,other\r\n';

describe('csv of leads', () => {
  it('has the fields of the specification, and the rest as JSON in the last column', async () => {
    const text = await written('csv', [
      '{"id":"1","contact":{"name":"A","phone":null,"company":"X"},"createdAt":"T"}',
      '{"score":1.50,"metadata":{"source":"s","utm":{"a":[1]}},"id":12345678901234567890}',
    ]);
    expect(text).toBe(
      header +
        '1,,A,,,,T,"{""contact"":{""company"":""X""}}"\r\n' +
        '12345678901234567890,,,,,s,,"{""score"":1.50,""metadata"":{""utm"":{""a"":[1]}}}"\r\n',
    );
  });

  it('keeps its columns when a later lead has new fields', async () => {
    const records = ['{"id":"1"}', '{"id":"2","late":true}', '{"id":"3"}'];
    expect(await written('csv', records)).toBe(
      `${header}1,,,,,,,\r\n2,,,,,,,"{""late"":true}"\r\n3,,,,,,,\r\n`,
    );
  });

  it('writes each lead at once, so that nothing waits for the last one', async () => {
    const stream = new PassThrough();
    const writer = await recordWriter('csv', streamSink(stream), {});
    await writer.write([{ bytes: Buffer.from('{"id":"1"}') }]);
    await writer.flush();
    expect(String(stream.read())).toBe(`${header}1,,,,,,,\r\n`);
  });

  it('adds the columns of --fields, of which nothing is in the last column', async () => {
    const record = '{"id":"1","metadata":{"utm":{"a":"x","b":"y"}},"score":2,"tags":["p","q"]}';
    const fields = ['metadata.utm.a', 'id', 'score', 'nothing', 'tags.1'];
    expect(await written('csv', [record], { fields })).toBe(
      header.replace('other', 'metadata.utm.a,score,nothing,tags.1,other') +
        '1,,,,,,,x,2,,q,"{""metadata"":{""utm"":{""b"":""y""}},""tags"":[""p"",""q""]}"\r\n',
    );
  });

  it('writes an object of --fields as JSON, beside its own members', async () => {
    const record = '{"id":"1","contact":{"name":"A","x":{}},"empty":{}}';
    expect(await written('csv', [record], { fields: ['contact'] })).toBe(
      `${header.replace('other', 'contact,other')}1,,A,,,,,"{""name"":""A"",""x"":{}}","{""empty"":{}}"\r\n`,
    );
  });

  it('keeps what is no object where the specification has one', async () => {
    expect(await written('csv', ['{"contact":"A","metadata":null}'])).toBe(
      `${header},,,,,,,"{""contact"":""A"",""metadata"":null}"\r\n`,
    );
  });

  it('is the header alone where there are no leads, and no header where it is appended', async () => {
    expect(await written('csv', [])).toBe(header);
    expect(await written('csv', ['{"id":"1"}'], { header: false })).toBe('1,,,,,,,\r\n');
  });

  it.each(['=1+1', '+49 30', '-x', '@cmd', '\tx', '\rx'])(
    'makes %j text for a spreadsheet, in a cell and in a name of a column',
    async (value) => {
      const record = JSON.stringify({ id: value, contact: { [value]: value }, [value]: value });
      const [names = [], row = []] = parseCsv(await written('csv', [record], { fields: [value] }));
      expect(names.at(-2)).toBe(`'${value}`);
      expect([row[0], row.at(-2)]).toEqual([`'${value}`, `'${value}`]);
      expect(row.at(-1)).toBe(JSON.stringify({ contact: { [value]: value } }));
    },
  );

  it('leaves cells as they are without escaping, for programs', async () => {
    const record = '{"id":"=1+1","contact":{"phone":"+49 30 1"}}';
    expect(await written('csv', [record], { escapeFormulas: false })).toBe(
      `${header}=1+1,,,,+49 30 1,,,\r\n`,
    );
  });

  it('replaces half a character', async () => {
    const records = [
      String.raw`{"id":"a\ud83d","category":"\ud83d\ude00","c":["\ud800"]}`,
      '{"id":"é\\udc00"}',
    ];
    const text = await written('csv', records);
    expect(text).toBe(`${header}a\ufffd,😀,,,,,,"{""c"":[""\\ud800""]}"\r\né\ufffd,,,,,,,\r\n`);
  });

  it('begins with a byte order mark when asked to', async () => {
    expect(await written('csv', ['{"id":"é"}'], { byteOrderMark: true })).toBe(`\ufeff${header}é,,,,,,,\r\n`);
  });

  it('reads any lead back, whatever keys and values hold', async () => {
    const value = fc.string({ unit: 'grapheme' });
    const lead = fc.record({ id: value, contact: fc.dictionary(fc.string(), value), more: fc.json() });
    await fc.assert(
      fc.asyncProperty(lead, async ({ id, contact, more }) => {
        const record = `{"id":${JSON.stringify(id)},"contact":${JSON.stringify(contact)},"more":${JSON.stringify(JSON.parse(more))}}`;
        const text = await written('csv', [record], { escapeFormulas: false });
        const [names = [], row = []] = parseCsv(text);
        const cells = Object.fromEntries(names.map((name, i) => [name, row[i] ?? '']));
        const other = JSON.parse(cells['other'] ?? '') as { contact?: object; more: unknown };
        const known = ['name', 'email', 'phone'].filter((name) => contact[name] !== undefined);
        const read = {
          id: cells['id'],
          contact: {
            ...other.contact,
            ...Object.fromEntries(known.map((name) => [name, cells[`contact.${name}`]])),
          },
          more: other.more,
        };
        expect(read).toEqual(JSON.parse(record));
      }),
      { numRuns: 200 },
    );
  });
});

describe('csv with columns of its own', () => {
  it('has these and no others, as often as they are named', async () => {
    const text = await written('csv', ['{"id":"1","n":-1.50,"x":1}'], { columns: ['id', 'n', 'id', 'no'] });
    expect(text).toBe('id,n,id,no\r\n1,-1.50,1,\r\n');
  });

  it('reaches the elements of a list by their index', async () => {
    const record = '{"tags":["a","b"],"forms":[{"q":"x","deep":[[1,{"y":2}]]}],"n":[]}';
    const columns = ['tags.1', 'forms.0.q', 'forms.0.deep.0.1.y', 'tags', 'tags.2', 'n.0'];
    const [, row] = (await written('csv', [record], { columns })).split('\r\n');
    expect(row).toBe('b,x,2,"[""a"",""b""]",,');
  });

  it('quotes commas, quotes and line ends', async () => {
    const record = JSON.stringify({ a: 'x,y', b: 'q"q', c: 'l\nl' });
    expect(await written('csv', [record], { columns: ['a', 'b', 'c'] })).toBe(
      'a,b,c\r\n"x,y","q""q","l\nl"\r\n',
    );
  });
});

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
