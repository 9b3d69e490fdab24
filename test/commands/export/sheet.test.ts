import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readXlsx } from 'hucre/xlsx';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshHome, leads } from '../../support/run.ts';
import { type Scripted, scripted, sendJson } from '../../support/service.ts';
import { envOf, serving } from './support.ts';

const records = [
  { id: 'a', contact: { name: 'Ana; "la" Ñ', phone: '+34600112233' }, createdAt: '2026-09-30T22:00:00Z' },
  { id: 'b', contact: { name: 'x'.repeat(40_000), phone: '0042' }, createdAt: '2026-10-31T22:59:59Z' },
  { id: 'c', contact: { name: 'C', phone: '1' }, createdAt: '2026-10-31T23:00:00Z' },
];

let service: Scripted;
beforeAll(async () => {
  service = await scripted((_, response) => sendJson(response, { data: records, has_more: false }));
});
afterAll(() => service.close());

const run = (home: string, ...flags: string[]) =>
  leads(['export', ...flags], { home, env: { LEADS_API_KEY: 'key-0123', LEADS_BASE_URL: service.url } });

const rowsIn = async (path: string) => (await readXlsx(readFileSync(path))).sheets[0]?.rows ?? [];

describe('export to a workbook', () => {
  it('takes the leads of a month where people are, and says what was cut', async () => {
    const home = freshHome();
    const file = join(home, 'october.xlsx');
    const { exitCode, stderr } = await run(home, '--in', '2026-10', '--zone', 'Europe/Madrid', '-o', file);
    expect(exitCode).toBe(0);
    expect(stderr).toContain('note: 1 cell was cut: a cell of a workbook holds 32,767 characters\n');
    const [header, ...rows] = await rowsIn(file);
    expect(header).toEqual([
      ...['id', 'category', 'contact.name', 'contact.email', 'contact.phone', 'metadata.source'],
      ...['createdAt (Europe/Madrid)', 'other'],
    ]);
    expect(rows.map(([id, , , , phone]) => [id, phone])).toEqual([
      ['a', '+34600112233'],
      ['b', '0042'],
    ]);
    expect(rows.map((row) => row[6])).toEqual([
      new Date('2026-10-01T00:00:00Z'),
      new Date('2026-10-31T23:59:59Z'),
    ]);
    expect(existsSync(`${file}.partial`)).toBe(false);
    const size = statSync(file).size.toLocaleString('en');
    expect((await run(home, '-o', file)).stderr).toContain(`replaced ${size} bytes`);
  });

  it('is finished by --resume', async () => {
    let isRefused = true;
    const paging = await serving((request, response) => {
      const isSecond = request.url?.includes('cursor=2') === true;
      if (isSecond && isRefused) response.writeHead(401).end('{"message":"not now"}');
      else sendJson(response, { data: [{ id: isSecond ? 'b' : 'a' }], next_cursor: isSecond ? null : '2' });
    });
    const home = freshHome();
    const file = join(home, 'all.xlsx');
    const env = envOf(paging.url);
    const argv = ['export', '-o', file, '--resume'];
    expect((await leads(argv, { home, env })).exitCode).toBe(4);
    isRefused = false;
    const { exitCode, stderr } = await leads(argv, { home, env });
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('1 of them from before')]);
    expect((await rowsIn(file)).map(([id]) => id)).toEqual(['id', 'a', 'b']);
  });

  it.each([
    ['--bookmark', 'b', '-o', 'x.xlsx'],
    ['--follow', '-o', 'x.xlsx'],
    ['--gzip', '--format', 'xlsx'],
    ['-o', 'x.xlsx.gz'],
  ])('does not go with %s %s %s %s', async (...flags) => {
    const home = freshHome();
    const typed = flags.flatMap((flag) => (flag as string | undefined) ?? []);
    const { exitCode, stderr } = await run(home, ...typed);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/error: --\w+ and --format xlsx do not go together/);
  });
});

describe('the ending of a name', () => {
  it.each([
    ['x.json', /^\[\n\{"id":"a"/],
    ['x.JSON', /^\[\n/],
    ['x.csv', /^id,category,contact\.name,/],
    ['x.xlsx', /^PK/],
    ['x.tsv', /^id\tcategory\tcontact\.name\t/],
    ['x.ndjson', /^\{"id":"a"/],
    ['x.jsonl', /^\{"id":"a"/],
    ['x.txt', /^\{"id":"a"/],
    ['leads-2026.10', /^\{"id":"a"/],
    ['x', /^\{"id":"a"/],
  ])('%s', async (name, begins) => {
    const home = freshHome();
    expect((await run(home, '-o', join(home, name))).exitCode).toBe(0);
    expect(readFileSync(join(home, name), 'latin1')).toMatch(begins);
  });

  const known = 'end it in .ndjson, .csv, .json, .xlsx, .jsonl or .tsv';
  it.each([
    ['-o a.xls', '-o a.xls: .xls is no form of an export', known],
    ['-o A.PARQUET', '-o A.PARQUET: .parquet is no form', known],
    ['-o a.ndjson.zst', '.zst is no form', known],
    ['--format csv -o a.xls.gz', '-o a.xls.gz: .xls is no form', known],
    ['--format xlsx -o x.csv', '--format xlsx and -o x.csv do not go', 'end the name in .xlsx, or leave out'],
    [
      '--json -o x.ndjson.gz',
      '--format json and -o x.ndjson.gz do not',
      'end the name in .json, or leave out',
    ],
    [
      '--bom --format csv -o x.xlsx',
      '--format csv and -o x.xlsx do not',
      'end the name in .csv, or leave out',
    ],
    ['--bom -o x.xlsx', '--bom needs --format csv or --output FILE.csv', 'or --output FILE.csv'],
  ])('is believed: %s', async (flags, error, hint) => {
    const home = freshHome();
    const { exitCode, stderr } = await run(home, ...flags.split(' '));
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(error)]);
    expect(stderr).toContain(hint);
  });

  it.each([
    [';', /^id;category;/],
    ['tab', /^id\tcategory\t/],
  ])('leaves cells between %s in a .tsv to --delimiter', async (delimiter, begins) => {
    const file = join(freshHome(), 'x.tsv');
    expect((await run(freshHome(), '-o', file, '--delimiter', delimiter)).exitCode).toBe(0);
    expect(readFileSync(file, 'latin1')).toMatch(begins);
  });
});

describe('--delimiter', () => {
  it.each([
    [';', 'a;;"Ana; ""la"" Ñ";;\'+34600112233;;2026-09-30T22:00:00Z;\r\n'],
    ['tab', 'a\t\t"Ana; ""la"" Ñ"\t\t\'+34600112233\t\t2026-09-30T22:00:00Z\t\r\n'],
  ])('%s', async (delimiter, text) => {
    const one = ['--limit', '1', '--format', 'csv'];
    const { stdout } = await run(freshHome(), ...one, '--delimiter', delimiter);
    expect(stdout.slice(stdout.indexOf('\n') + 1)).toBe(text);
  });

  it('is one sign, of CSV, and the same every night', async () => {
    const home = freshHome();
    expect((await run(home, '--delimiter', ';')).stderr).toContain('--delimiter needs --format csv');
    expect((await run(home, '--format', 'csv', '--delimiter', 'x')).stderr).toContain("'x' is not one");
    const night = ['-o', join(home, 'all.csv'), '--bookmark', join(home, 'b')];
    expect((await run(home, ...night, '--delimiter', ';')).exitCode).toBe(0);
    expect((await run(home, ...night)).stderr).toContain('it holds csv with the columns id;category;');
    expect((await run(home, ...night, '--delimiter', ';')).exitCode).toBe(0);
  });
});
