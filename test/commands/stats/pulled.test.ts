import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { textWidth } from '../../../src/output/text-width.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.ts';
import { FakeClock } from '../../support/clock.ts';
import { leads, type RunOptions } from '../../support/run.ts';
import { scripted, sendJson } from '../../support/service.ts';

const now = Date.UTC(2026, 0, 15, 12);
let box: Sandbox;
beforeAll(async () => {
  box = await startSandbox({ leads: 500, newest: now }, { clock: new FakeClock(now) });
});
afterAll(() => box.close());

const at = (url: string, more: RunOptions = {}): RunOptions => ({
  clock: new FakeClock(now, { hasty: true }),
  ...more,
  env: { LEADS_API_KEY: 'sandbox-key', LEADS_BASE_URL: url, LANG: 'en_US.UTF-8', ...more.env },
});
const stats = (...flags: string[]) => leads(['stats', ...flags], at(box.url));

interface Lead {
  readonly category: string;
  readonly status: string;
  readonly createdAt: string;
  readonly metadata: { readonly source: string };
}

async function exported(...flags: string[]): Promise<Lead[]> {
  const { stdout } = await leads(['export', ...flags], at(box.url));
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Lead);
}

function countBy<T>(items: readonly T[], keyOf: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[keyOf(item)] = (counts[keyOf(item)] ?? 0) + 1;
  return counts;
}

interface Document {
  readonly total: number;
  readonly undated: number;
  readonly by: Record<string, Record<string, number>>;
  readonly bucket: string;
  readonly series: readonly { readonly start: string; readonly count: number }[];
  readonly expect?: readonly unknown[];
}
const documentOf = (stdout: string): Document => JSON.parse(stdout) as Document;

/** Runs `stats` against a service that lists these records. */
async function counted(records: readonly unknown[], flags: readonly string[], more: RunOptions = {}) {
  const server = await scripted((_, response) => sendJson(response, { data: records, has_more: false }));
  try {
    return await leads(['stats', ...flags], at(server.url, more));
  } finally {
    await server.close();
  }
}

describe('leads stats', () => {
  it('counts exactly the leads that export writes', async () => {
    const all = await exported();
    const { stdout, stderr, exitCode } = await stats('--json');
    const { total, by, series, bucket } = documentOf(stdout);
    expect({ exitCode, stderr, total, bucket }).toEqual({
      exitCode: 0,
      stderr: '',
      total: 500,
      bucket: 'day',
    });
    expect(by).toEqual({
      status: countBy(all, ({ status }) => status),
      category: countBy(all, ({ category }) => category),
      source: countBy(all, ({ metadata }) => metadata.source),
    });
    const days = series
      .filter(({ count }) => count > 0)
      .map(({ start, count }) => [start.slice(0, 10), count]);
    expect(Object.fromEntries(days)).toEqual(countBy(all, ({ createdAt }) => createdAt.slice(0, 10)));
  });

  it('counts the leads that the filters let through, by the same filters as export', async () => {
    const flags = [
      '--since',
      '3d',
      '--until',
      '1d',
      '--category',
      'solar',
      '--where',
      'metadata.source!=google',
    ];
    const { total, by } = documentOf((await stats('--json', '--by', 'metadata.source', ...flags)).stdout);
    const matching = await exported(...flags);
    expect(total).toBe(matching.length);
    expect(by).toEqual({ 'metadata.source': countBy(matching, ({ metadata }) => metadata.source) });
  });

  it('sums what is beyond ten values as (other) in a table, and lists them all in JSON', async () => {
    const records = Array.from({ length: 12 }, (_, i) => ({ id: String(i), category: `category ${i}` }));
    const table = await counted(records, ['--by', 'category']);
    expect(table.stdout.match(/^category \d/gm)).toHaveLength(10);
    expect(table.stdout).toMatch(/^\(other\) +2 +17%$/m);
    const { by } = documentOf((await counted(records, ['--by', 'category', '--json'])).stdout);
    expect(Object.keys(by['category'] ?? {})).toHaveLength(12);
  });

  it('counts leads without a readable time in the total, and says that they are in no bucket', async () => {
    const records = [
      { id: 'a', createdAt: 'soon' },
      { id: 'b' },
      { id: 'c', createdAt: '2026-01-15T09:00:00Z' },
    ];
    const { stdout, stderr } = await counted(records, ['--json']);
    expect(documentOf(stdout)).toMatchObject({ total: 3, undated: 2, series: [{ count: 1 }] });
    expect(stderr).toBe('note: 2 leads have no createdAt that can be read: counted, but in no hour\n');
  });

  it('keeps values exact in json, and lets none of them drive the terminal', async () => {
    const values = ['=1+1', 'a,"b"', '\u001b[31mred\u202e', '__proto__', ''];
    const records = values.map((category, i) => ({
      id: `l-${i}`,
      category,
      createdAt: '2026-01-15T09:00:00Z',
    }));
    const { by } = documentOf((await counted(records, ['--json', '--by', 'category'])).stdout);
    expect(new Map(Object.entries(by['category'] ?? {}))).toEqual(
      new Map(values.toSorted().map((value) => [value, 1])),
    );
    const table = await counted(records, ['--by', 'category', '--no-color'], { terminal: 80 });
    expect(table.stdout).not.toMatch(/[\u001b\u202e]/);
    expect(table.stdout).toMatch(/^"" +1 +20%/m);
  });

  it('says which --by no lead has, and what it may have meant', async () => {
    const { stderr } = await stats('--by', 'categori');
    expect(stderr).toBe("note: --by: there is no field 'categori'; did you mean 'category'?\n");
  });

  test.each([40, 80, 200])('fits a terminal of %i columns, whatever the values are', async (terminal) => {
    const wide = ['漢字'.repeat(30), '👩‍👩‍👧‍👦 family', 'x'.repeat(300), 'ลลิตา ใจดี', 'plain'];
    const records = Array.from({ length: 200 }, (_, i) => ({
      id: `l-${i}`,
      category: wide[i % 5],
      metadata: { source: wide[i % 4] },
      createdAt: new Date(now - i * 3_600_000 * 3).toISOString(),
    }));
    for (const flags of [['--by', 'category,metadata.source'], ['--bucket', 'hour'], []]) {
      const { stdout } = await counted(records, ['--no-color', ...flags], { terminal });
      for (const line of stdout.split('\n')) expect(textWidth(line), line).toBeLessThanOrEqual(terminal);
      expect(stdout).toMatch(/█/);
    }
  });

  test.each([{ LANG: 'C' }, { TERM: 'dumb' }])('is plain ASCII where %o asks for it', async (env) => {
    const records = Array.from({ length: 9 }, (_, i) => ({
      id: `l-${i}`,
      category: 'x'.repeat(100 + (i % 2)),
      createdAt: `2026-01-0${i + 1}T00:00:00Z`,
    }));
    const { stdout } = await counted(records, ['--no-color'], { terminal: 60, env });
    expect(stdout).toMatch(/^[\x20-\x7e\n]+$/);
    expect(stdout).toMatch(/x~ +5 +56% {2}#+/);
  });

  it('of a walk that proves no end prints nothing and is exit 6, unless that is accepted', async () => {
    const records = ['a', 'b', 'c'].map((id) => ({ id, createdAt: '2026-01-15T09:00:00Z' }));
    const server = await scripted((_, response) => sendJson(response, { data: records, total: 6 }));
    const run = await leads(['stats', '--json'], at(server.url));
    expect(run).toMatchObject({ exitCode: 6, stdout: '' });
    const accepted = await leads(['stats', '--json', '--accept-incomplete'], at(server.url));
    expect(documentOf(accepted.stdout).total).toBe(3);
    expect(accepted.stderr).toContain('note: leads may be missing');
    await server.close();
  });

  it('is an alarm on the total with --expect, which speaks under --quiet too', async () => {
    const holds = await stats('--json', '--expect', 'total>=500');
    expect(holds).toMatchObject({ exitCode: 0, stderr: 'total>=500 holds: it is 500\n' });
    const fails = await stats('--json', '--quiet', '--expect', 'total>=100, total>500');
    expect(fails).toMatchObject({ exitCode: 7, stderr: 'warning: total>500 does not hold: it is 500\n' });
    expect(documentOf(fails.stdout).expect).toEqual([
      { expectation: 'total>=100', holds: true, seen: 500 },
      { expectation: 'total>500', holds: false, seen: 500 },
    ]);
  });

  it('prints nothing under --quiet while the alarm holds, and only what does not hold else', async () => {
    expect(await stats('-q', '--expect', 'total>=500')).toMatchObject({
      exitCode: 0,
      stdout: '',
      stderr: '',
    });
    const stderr = 'warning: total>500 does not hold: it is 500\n';
    expect(await stats('-q', '--expect', 'total>500')).toMatchObject({ exitCode: 7, stdout: '', stderr });
  });

  test.each([
    [['--expect', 'gap<30m'], "--expect: 'gap<30m' is about what was received: it needs --inbox"],
    [['--expect', 'gap=30m'], "--expect: 'gap=30m' is no expectation"],
    [['--by', ','], "--by: ',' is not a list of fields"],
    [['--inbox', '--status', 'new'], '--inbox and --status do not go together'],
    [['--inbox', ''], '--inbox: the value is empty'],
    [['--bucket', 'month'], "--bucket: 'month' is not one of hour, day, week"],
  ])('%j is a usage error', async (flags, message) => {
    const run = await stats(...flags);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toContain(message);
  });
});
