import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { descriptorsOn } from '../../support/descriptors.ts';
import { freshHome, leads, type Run } from '../../support/run.ts';
import { type Scripted, scripted, sendJson } from '../../support/service.ts';

const pageSize = 4;
const uuid = (nth: number): string => `u-${String(nth).padStart(2, '0')}`;
/** Newest first; `id` is the same for all of them. */
const lead = (nth: number) => ({
  id: 'same',
  uuid: uuid(nth),
  category: nth % 2 === 0 ? 'solar' : 'legal',
  createdAt: `2026-01-15T11:${String(59 - nth).padStart(2, '0')}:00Z`,
});
const uuids = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, i) => uuid(from + i));

let service: Scripted;
let home: string;
/** The records of the list, changed by a test. */
let list: Record<string, unknown>[];
/** Offsets from which on pages fail. */
let failsFrom: number;
let wrap: (record: Record<string, unknown>) => unknown;

beforeEach(async () => {
  home = freshHome();
  list = Array.from({ length: 10 }, (_, nth) => lead(nth));
  failsFrom = Infinity;
  wrap = (record) => record;
  service = await scripted((request, response) => {
    const offset = Number(new URL(request.url ?? '', 'http://x').searchParams.get('offset') ?? 0);
    if (offset >= failsFrom) response.writeHead(403).end('{"error":"no","message":"not now"}');
    else {
      const data = list.slice(offset, offset + pageSize).map(wrap);
      sendJson(response, { data, offset, total: list.length });
    }
  });
});
afterEach(() => service.close());

const run = (...argv: string[]): Promise<Run> =>
  leads(argv, { home, env: { LEADS_API_KEY: 'key', LEADS_BASE_URL: service.url } });
const uuidsIn = (ndjson: string): string[] =>
  ndjson
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { uuid: string }).uuid);

describe('api.id', () => {
  beforeEach(() => run('config', 'set', 'api.id', 'uuid'));

  it('is what export deduplicates by, whatever id says', async () => {
    const { exitCode, stdout, stderr } = await run('export');
    expect([exitCode, uuidsIn(stdout)]).toEqual([0, uuids(0, 10)]);
    expect(stderr).not.toContain('without id');
  });

  it('fills the first column of a CSV, also of a list', async () => {
    for (const words of [['export'], ['list', '--limit', 'all']]) {
      const lines = (await run(...words, '--format', 'csv')).stdout.split('\r\n').slice(1, -1);
      expect(lines.map((line) => line.split(',')[0]).toSorted()).toEqual(uuids(0, 10));
    }
  });

  it('leaves filters to the fields that they name', async () => {
    const { stdout } = await run('export', '--category', 'solar', '--where', 'uuid!=u-04');
    expect(uuidsIn(stdout)).toEqual(['u-00', 'u-02', 'u-06', 'u-08']);
  });

  it('is what show looks for', async () => {
    expect((await run('show', 'u-07', '--json')).stdout).toBe(`${JSON.stringify(lead(7))}\n`);
    expect((await run('show', 'same', '--json')).exitCode).not.toBe(0);
  });

  it('is the first column of the table', async () => {
    const { stdout } = await run('list', '--limit', '2');
    expect(stdout).toMatch(/^ID +CREATED .*\nu-00 .*\nu-01 /);
  });

  it('counts a lead without it, and writes it', async () => {
    list[3] = { id: 'only' };
    const { stdout, stderr } = await run('export');
    expect(uuidsIn(stdout)).toHaveLength(10);
    expect(stderr).toContain('1 without id');
  });

  it('is what a bookmark remembers', async () => {
    const bookmark = join(home, 'b.json');
    expect(uuidsIn((await run('export', '--bookmark', bookmark)).stdout)).toHaveLength(10);
    list.unshift({ ...lead(0), uuid: 'late' });
    expect(uuidsIn((await run('export', '--bookmark', bookmark)).stdout)).toEqual(['late']);
    await run('config', 'unset', 'api.id');
    expect(await run('export', '--bookmark', bookmark)).toMatchObject({ exitCode: 2 });
  });

  it.each([[[]], [['--fields', 'uuid']], [['--format', 'csv']]])(
    'is what --resume recalls from the partial file: %j',
    async (form) => {
      const file = join(home, 'out');
      const argv = ['export', '-o', file, ...form];
      failsFrom = 6;
      expect((await run(...argv)).exitCode).toBe(4);
      // What was written moves behind the position that the export goes on from.
      list.unshift(...Array.from({ length: 3 }, (_, nth) => ({ ...lead(nth), uuid: `new-${nth}` })));
      failsFrom = Infinity;
      await run('config', 'unset', 'api.id');
      const other = await run(...argv, '--resume');
      expect([other.exitCode, other.stderr]).toEqual([2, expect.stringContaining('differs in api.id')]);
      await run('config', 'set', 'api.id', 'uuid');
      const { exitCode, stderr } = await run(...argv, '--resume');
      expect([exitCode, stderr]).toEqual([0, expect.stringContaining('13 leads')]);
      if (form.length > 0) return;
      const written = uuidsIn(readFileSync(file, 'utf8'));
      expect([...written].sort()).toEqual([...uuids(0, 10), 'new-0', 'new-1', 'new-2'].sort());
    },
  );
});

describe('leads in wrappers', () => {
  it('are resumed by the _id of their documents', async () => {
    wrap = ({ uuid: _id, ...rest }) => ({
      id: _id,
      key: _id,
      value: {},
      doc: { _id, uuid: _id, ...rest, id: undefined },
    });
    const file = join(home, 'out');
    failsFrom = 6;
    expect((await run('export', '-o', file)).exitCode).toBe(4);
    list.unshift({ ...lead(0), uuid: 'new' });
    failsFrom = Infinity;
    expect((await run('export', '-o', file, '--resume')).exitCode).toBe(0);
    expect(uuidsIn(readFileSync(file, 'utf8')).sort()).toEqual(['new', ...uuids(0, 10)]);
  });

  it('are exported from the start where only the wrappers hold their ids, and that is said', async () => {
    wrap = ({ uuid: _id, createdAt }) => ({ _index: 'leads', _id, _source: { createdAt, own: _id } });
    const file = join(home, 'out');
    failsFrom = 6;
    expect((await run('export', '-o', file)).exitCode).toBe(4);
    failsFrom = Infinity;
    const { exitCode, stderr } = await run('export', '-o', file, '--resume');
    expect(exitCode).toBe(0);
    expect(stderr).toContain('the ids of its leads stand outside of what was written');
    expect(stderr).toContain('leads config set api.id NAME');
    expect(readFileSync(file, 'utf8').match(/"own":"[^"]+"/g)).toHaveLength(10);
    expect(descriptorsOn(file)).toBe(0);
    expect((await run('list', '--limit', '1')).stdout).toMatch(/^ID +CREATED *\nu-00 /);
    expect((await run('show', 'u-03', '--json')).stdout).toContain('"own":"u-03"');
  });
});
