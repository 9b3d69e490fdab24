import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openInbox } from '../../src/inbox/open-inbox.ts';
import { drawsFrom } from '../../src/sandbox/data/seeded-random.ts';
import { systemClock } from '../../src/time/clock.ts';
import { arrivalOf } from '../support/both-sides.ts';
import { measure, median, printTable } from '../support/measure.ts';
import { benchLead, type PageService, servePages } from '../support/page-service.ts';

/**
 * As many leads on both sides, equal but for a hundred differences, against `leads export` of the same leads to /dev/null.
 * The inbox holds a SHA-256 of each lead, so that of equal leads no body is read.
 */
const bin = fileURLToPath(new URL('../../bin/leads.js', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'leads-bench-'));
const inboxFile = join(home, 'inbox.db');
const rounds = Number(process.env['LEADS_BENCH_ROUNDS'] ?? 3);
const count = Number(process.env['LEADS_BENCH_LEADS'] ?? 1_000_000);
const differences = 100;
const mebibyte = 1024 * 1024;

let service: PageService;
/** Class by id. */
const truth = new Map<string, string>();

const idOf = (json: string): string => (JSON.parse(json) as { id: string }).id;
const pushed = (json: string): string => json.replace(/,"status":"new"}$/, '}');

beforeAll(async () => {
  service = await servePages({ leads: count, pageSize: 1000, pagination: 'cursor' });
  const draw = drawsFrom(7);
  const different = new Set<number>();
  while (different.size < differences) different.add(1 + Math.floor(draw() * (count - 1)));
  const inbox = await openInbox({ location: inboxFile, clock: systemClock });
  const bodies: string[] = [];
  const takeAll = async (): Promise<void> => {
    const arrivals = bodies.splice(0).map((body) => arrivalOf(idOf(body), Buffer.from(body), timeOf(body)));
    await inbox.take(arrivals);
  };
  for (let i = 0; i < count; i += 1) {
    const body = pushed(benchLead(i));
    if (!different.has(i)) bodies.push(body);
    else {
      const kind = ['missing', 'different', 'extra'][i % 3] ?? '';
      const id = kind === 'extra' ? `extra-${i}` : idOf(body);
      truth.set(id, kind);
      if (kind === 'different') bodies.push(body.replace('"email":"', '"email":"x'));
      if (kind === 'extra') bodies.push(body, body.replace(idOf(body), id));
    }
    if (bodies.length >= 1000) await takeAll();
  }
  await takeAll();
  await inbox.close();
}, 1_800_000);
afterAll(() => service.close());

const timeOf = (json: string): number =>
  Date.parse((JSON.parse(json) as { createdAt: string }).createdAt) + 1000;

function environment(extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    HOME: home,
    LEADS_BASE_URL: service.url,
    LEADS_API_KEY: 'bench-key-0123456789',
  };
  delete env['NODE_EXTRA_CA_CERTS'];
  delete env['NODE_OPTIONS'];
  return { ...env, ...extra };
}

const audit = `${process.execPath} ${bin} audit --json -q --since 2020-01-01 --inbox ${inboxFile}`;

it('finds the hundred differences', async () => {
  await measure(`${audit} > ${home}/findings || test $? = 7`, environment());
  const lines = readFileSync(join(home, 'findings'), 'utf8').trim().split('\n');
  const found = lines
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { id: string; class: string })
    .map(({ id, class: kind }): [string, string] => [id, kind]);
  expect(new Map(found)).toEqual(truth);
  expect(found).toHaveLength(differences);
});

it('costs at most five times the export', async () => {
  const lines = {
    'leads export': `${process.execPath} ${bin} export -q > /dev/null`,
    'leads audit': `${audit} > /dev/null || test $? = 7`,
  };
  const taken: Record<string, number[]> = {};
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, line] of Object.entries(lines)) {
      (taken[name] ??= []).push((await measure(line, environment())).cpuMs);
    }
  }
  const cpu = (name: string): number => median(taken[name] ?? []);
  printTable(
    `audit, ${count} leads on both sides, medians of ${rounds}`,
    ['leads export', 'leads audit'].map((name) => [
      name,
      `${(cpu(name) / 1000).toFixed(2)} s`,
      `${((cpu(name) * 1000) / count).toFixed(2)} µs a lead`,
      `${(cpu(name) / cpu('leads export')).toFixed(2)} × export`,
    ]),
  );
  expect(cpu('leads audit') / cpu('leads export')).toBeLessThanOrEqual(5);
});

it('needs at most 160 MiB', async () => {
  const report = join(home, 'peak');
  const hook = join(home, 'peak.cjs');
  writeFileSync(
    hook,
    `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(report)}, String(process.resourceUsage().maxRSS)));`,
  );
  const run = promisify(execFile);
  const peaks: number[] = [];
  for (const line of [`${process.execPath} ${bin} export -q`, audit]) {
    await run('bash', ['-c', `${line} > /dev/null || test $? = 7`], {
      env: environment({ NODE_OPTIONS: `--require=${hook}` }),
    });
    peaks.push((Number(readFileSync(report, 'utf8')) * 1024) / mebibyte);
  }
  printTable(`peak memory, ${count} leads`, [
    ['leads export', `${(peaks[0] ?? 0).toFixed(0)} MiB`],
    ['leads audit', `${(peaks[1] ?? 0).toFixed(0)} MiB`],
  ]);
  expect(peaks[1]).toBeLessThanOrEqual(160);
});
