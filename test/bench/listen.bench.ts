import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cpuSeconds, startListen } from '../support/listening.ts';
import { median, printTable } from '../support/measure.ts';
import { onCore } from '../support/on-core.ts';
import { newInboxUrl } from '../support/postgres/address.ts';
import { sharedPostgres } from '../support/postgres/shared.ts';
import { buildProgram } from '../support/program.ts';
import { type Driven, driveLoad, startServer } from './listen/drive-load.ts';

/**
 * Deliveries of 490-byte leads over HTTPS, TLS 1.3, keep-alive, 100 connections, each signed with HMAC-SHA256 or with a
 * token, and with an id of its own, against a bare node https server that answers 200; the simplest receiver shows what is
 * possible. Server and load have a core each, where there are two; PostgreSQL takes its time from both. The load is a program of
 * ours, written to cost less than the servers that it drives. Where it is the slower end all the same, as against the bare server,
 * rates flatter `leads`: look at the CPU of a request.
 */
const rounds = Number(process.env['LEADS_BENCH_ROUNDS'] ?? 7);
const requests = Number(process.env['LEADS_BENCH_REQUESTS'] ?? 20_000);
const secret = 'bench-secret';

interface Measured {
  readonly rate: number;
  /** Of the server, in microseconds. */
  readonly cpuOfRequest: number;
  readonly median: number;
  readonly p99: number;
}

const address = await sharedPostgres();
const dir = mkdtempSync(join(tmpdir(), 'leads-bench-'));
const servers = new Map<string, Driven>();
let load: string;
let run = 0;

beforeAll(async () => {
  load = await buildProgram(new URL('./listen/load.ts', import.meta.url));
  const bare = await buildProgram(new URL('./listen/bare.ts', import.meta.url));
  const durable = await listen(join(dir, 'bench.db'), ofHmac);
  const { caPath = '' } = durable;
  servers.set('bare node https', await startServer(bare, caPath));
  servers.set('leads listen', durable);
  servers.set('leads listen, token', { ...(await listen(join(dir, 'token.db'), ofToken)), proof: 'token' });
  servers.set('leads listen, in memory', { ...(await listen(':memory:', ofToken)), proof: 'token' });
  // Beside the packages of the tree, which it loads.
  const place = fileURLToPath(new URL('../../.cache', import.meta.url));
  const simplest = await buildProgram(new URL('./listen/simplest.ts', import.meta.url), place);
  servers.set('simplest receiver', await startServer(simplest, caPath, [join(dir, 'simplest.db'), secret]));
  if (address !== undefined)
    servers.set('leads listen, PostgreSQL', await listen(newInboxUrl(address), ofHmac));
}, 60_000);

afterAll(() => {
  for (const { child } of servers.values()) child.kill('SIGKILL');
});

const ofHmac = ['--scheme', 'github', '--secret', secret];
const ofToken = ['--token', secret];

const listen = (inbox: string, flags: readonly string[]): Promise<Driven> =>
  startListen([...flags, '--inbox', inbox], { dataDir: join(dir, 'data'), under: onCore(0, []) });

async function drive(server: Driven, count: number): Promise<Measured> {
  run += 1;
  const before = cpuSeconds(server.pid);
  const outcome = await driveLoad(load, server, secret, { count, prefix: `r${run}` });
  const cpu = cpuSeconds(server.pid) - before;
  expect([outcome.accepted, outcome.others]).toEqual([count, {}]);
  const { median: middle, p99 } = outcome;
  return { rate: count / outcome.seconds, cpuOfRequest: (cpu * 1e6) / count, median: middle, p99 };
}

test(`${requests} deliveries over 100 connections, median of ${rounds} rounds`, async () => {
  const measured = new Map<string, Measured[]>();
  for (const server of servers.values()) await drive(server, requests / 5);
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, server] of servers)
      measured.set(name, [...(measured.get(name) ?? []), await drive(server, requests)]);
  }
  const of = (name: string, key: keyof Measured): number =>
    median((measured.get(name) ?? []).map((one) => one[key]));
  const ratio = (name: string, key: keyof Measured): number => of(name, key) / of('bare node https', key);
  printTable('listen', [
    ['', 'per second', '×', 'CPU µs', '×', 'p50 ms', 'p99 ms'],
    ...[...servers.keys()].map((name) => [
      ...[name, of(name, 'rate').toFixed(0), ratio(name, 'rate').toFixed(2)],
      ...[of(name, 'cpuOfRequest').toFixed(1), ratio(name, 'cpuOfRequest').toFixed(2)],
      ...[of(name, 'median').toFixed(1), of(name, 'p99').toFixed(1)],
    ]),
  ]);
  expect(ratio('leads listen', 'rate')).toBeGreaterThanOrEqual(0.25);
  if (address !== undefined)
    expect(of('leads listen, PostgreSQL', 'rate') / of('leads listen', 'rate')).toBeGreaterThanOrEqual(0.6);
});
