import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, expect, it } from 'vitest';
import { measure, median, printTable } from '../support/measure.ts';
import { buildProgram } from '../support/program.ts';
import { type PageService, type PageServiceOptions, servePages } from '../support/page-service.ts';

const bin = fileURLToPath(new URL('../../bin/leads.js', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'leads-bench-'));
/** Where node finds the packages that a program imports. */
const cache = fileURLToPath(new URL('../../.cache', import.meta.url));
const rounds = Number(process.env['LEADS_BENCH_ROUNDS'] ?? 7);
const million = Number(process.env['LEADS_BENCH_LEADS'] ?? 1_000_000);
const mebibyte = 1024 * 1024;

let service: PageService | undefined;
afterEach(() => service?.close());

async function serve(options: PageServiceOptions): Promise<PageService> {
  await service?.close();
  service = await servePages(options);
  return service;
}

function environment(url: string, extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    HOME: home,
    LEADS_BASE_URL: url,
    LEADS_API_KEY: 'bench-key-0123456789',
    ...extra,
  };
  delete env['NODE_EXTRA_CA_CERTS'];
  delete env['NODE_OPTIONS'];
  return { ...env, ...extra };
}

const leads = (args = ''): string => `${process.execPath} ${bin} export -q ${args}`;

/** Peak memory of the one process, in MiB: the process itself says it at its end. */
async function peak(url: string, line: string): Promise<number> {
  const report = join(home, 'peak');
  const hook = join(home, 'peak.cjs');
  writeFileSync(
    hook,
    `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(report)}, String(process.resourceUsage().maxRSS)));`,
  );
  await promisify(execFile)('bash', ['-c', `${line} > /dev/null`], {
    env: environment(url, { NODE_OPTIONS: `--require=${hook}` }),
  });
  return (Number(readFileSync(report, 'utf8')) * 1024) / mebibyte;
}

const ratio = (a: number, b: number): string => (a / b).toFixed(3);
const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;

it('needs no more memory for a million leads', async () => {
  const rows = [['', 'leads', 'peak MiB', 'of it ids at most']];
  const peaks: number[] = [];
  for (const pagination of ['cursor', 'none'] as const) {
    const { url } = await serve({ leads: million, pageSize: 1000, pagination });
    const used = await peak(url, leads());
    peaks.push(used);
    rows.push([
      pagination === 'none' ? 'one array' : 'pages of 1000',
      String(million),
      used.toFixed(0),
      ids(),
    ]);
  }
  printTable('peak memory', rows);
  for (const used of peaks) expect(used).toBeLessThanOrEqual(120 + Number(ids()));
});

/** Bytes of the ids, their table of two 32-bit words at half load, and what growing it takes; MiB. */
const ids = (): string => ((million * (36 + 4) + 4 * million * 8) / mebibyte).toFixed(0);

it('needs at most 160 MiB to audit a million leads', async () => {
  const { url } = await serve({ leads: million, pageSize: 1000, pagination: 'cursor' });
  const inbox = join(home, 'inbox.db');
  mkdirSync(cache, { recursive: true });
  const fill = await buildProgram(new URL('gate/fill-inbox.ts', import.meta.url), cache);
  await promisify(execFile)(process.execPath, [fill, inbox, String(million)]);
  const audit = `${process.execPath} ${bin} audit --json -q --since 2020-01-01 --inbox ${inbox}`;
  expect(await peak(url, audit)).toBeLessThanOrEqual(160);
});

it('asks ahead where it may', async () => {
  const { url } = await serve({ leads: 60_000, pageSize: 200, pagination: 'page', latencyMs: 30 });
  const serial: number[] = [];
  const parallel: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    serial.push((await measure(`${leads('--page-size 200')} > ${home}/serial`, environment(url))).wallMs);
    parallel.push(
      (await measure(`${leads('--page-size 200 --concurrency 4')} > ${home}/parallel`, environment(url)))
        .wallMs,
    );
  }
  printTable(`300 pages at 30 ms latency, medians of ${rounds}`, [
    ['', 'wall', '× serial'],
    ['serial', seconds(median(serial)), '1.000'],
    ['--concurrency 4', seconds(median(parallel)), ratio(median(parallel), median(serial))],
  ]);
  await measure(`cmp ${home}/serial ${home}/parallel`);
  expect(median(parallel) / median(serial)).toBeLessThanOrEqual(0.3);
});

it('is linear in the number of leads', async () => {
  const rows = [['leads', 'CPU', 'µs a lead']];
  const costs: number[] = [];
  for (const count of [10_000, 100_000, million]) {
    const { url } = await serve({ leads: count, pageSize: 1000, pagination: 'cursor' });
    const taken: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      taken.push((await measure(`${leads()} > ${home}/linear`, environment(url))).cpuMs);
    }
    costs.push((median(taken) * 1000) / count);
    rows.push([String(count), seconds(median(taken)), (costs.at(-1) ?? 0).toFixed(2)]);
  }
  printTable('linear, medians of 3', rows);
  expect(statSync(`${home}/linear`).size).toBeGreaterThan(million * 400);
  expect(costs[2]).toBeLessThanOrEqual((costs[1] ?? 0) * 1.2);
});
