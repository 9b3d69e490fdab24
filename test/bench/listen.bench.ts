import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { cpuSeconds, residentBytes, startListen } from '../support/listening.ts';
import { onCore } from '../support/on-core.ts';
import { buildProgram } from '../support/program.ts';
import { openWire } from '../support/wire.ts';
import type { Outcome } from './listen/load.ts';
import { freePort } from '../support/free-port.ts';

/**
 * Deliveries of 490-byte leads over HTTPS, TLS 1.3, keep-alive, 100 connections, each signed with HMAC-SHA256 and with an
 * id of its own, against a bare node https server that answers 200; the simplest receiver shows what is possible. Server and
 * load have a core each, where there are two. The load is a program of ours, written to cost less than the servers that it
 * drives. Where it is the slower end all the same, as against the bare server, rates flatter `leads`: look at the ratio per
 * second of the server's CPU.
 */
const rounds = Number(process.env['LEADS_BENCH_ROUNDS'] ?? 7);
const requests = 20_000;
const deliveries = process.env['LEADS_FAULTS'] === 'full' ? 500_000 : 50_000;
const secret = 'bench-secret';

interface Server {
  readonly name: string;
  readonly pid: number;
  readonly port: number;
  readonly caPath: string;
  readonly path: string;
  /** How much of the load it gets: one that is many times slower would take minutes. */
  readonly share: number;
  stop(): void;
}

interface Measure {
  readonly rate: number;
  readonly perCpuSecond: number;
  readonly median: number;
  readonly p99: number;
}

const servers: Server[] = [];
const dir = mkdtempSync(join(tmpdir(), 'leads-bench-'));
/** Beside the packages of the tree, which the servers load. */
const cache = fileURLToPath(new URL('../../.cache', import.meta.url));
let loadProgram: string;
let run = 0;

beforeAll(async () => {
  loadProgram = await buildProgram(new URL('./listen/load.ts', import.meta.url));
  const flags = ['--scheme', 'github', '--secret', secret];
  const durable = await listen('leads listen', [...flags, '--inbox', join(dir, 'bench.db')]);
  const pair = join(dirname(durable.caPath), 'server.pem');
  const simplest = await ownServer('simplest receiver', './listen/simplest.ts', [
    pair,
    join(dir, 'simplest.db'),
    secret,
  ]);
  servers.push(await ownServer('bare node https', './listen/bare.ts', [pair]), durable, simplest);
  const webhook = await debianWebhook(pair, durable.caPath);
  if (webhook !== undefined) servers.push(webhook);
}, 60_000);

afterAll(() => {
  for (const server of servers) server.stop();
});

async function listen(name: string, flags: readonly string[]): Promise<Server> {
  const dataDir = join(dir, 'data');
  const listening = await startListen(flags, { dataDir, under: onCore(0, []) });
  const { pid, port, caPath = '' } = listening;
  return { name, pid, port, caPath, path: '/', share: 1, stop: () => void listening.child.kill('SIGKILL') };
}

/** A server of this folder that is given a certificate with its key, and prints the port that it listens on. */
async function ownServer(
  name: string,
  source: string,
  [pair, ...more]: readonly [string, ...string[]],
): Promise<Server> {
  const program = await buildProgram(new URL(source, import.meta.url), cache);
  const [command = '', ...args] = onCore(0, [process.execPath, program, pair, ...more]);
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const stop = (): void => void child.kill('SIGKILL');
  const caPath = join(dirname(pair), 'ca.pem');
  return { name, pid: child.pid ?? 0, port: Number(line.toString()), caPath, path: '/', share: 1, stop };
}

/** Debian's `webhook`, where it is installed, running `true` for each delivery and answering when that is done. */
async function debianWebhook(pair: string, caPath: string): Promise<Server | undefined> {
  try {
    execFileSync('webhook', ['-version'], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  const hooks = join(dir, 'hooks.json');
  const parameter = { source: 'header', name: 'X-Hub-Signature-256' };
  const match = { type: 'payload-hmac-sha256', secret, parameter };
  const hook = { id: 'leads', 'execute-command': 'true', 'include-command-output-in-response': true };
  writeFileSync(hooks, JSON.stringify([{ ...hook, 'trigger-rule': { match } }]));
  const port = await freePort();
  const flags = [
    '-hooks',
    hooks,
    '-secure',
    '-cert',
    pair,
    '-key',
    pair,
    '-ip',
    '127.0.0.1',
    '-port',
    String(port),
  ];
  const [command = '', ...args] = onCore(0, ['webhook', ...flags]);
  const child = spawn(command, args, { stdio: 'ignore' });
  await vi.waitFor(() => openWire(port), { timeout: 10_000 });
  const stop = (): void => void child.kill('SIGKILL');
  return {
    name: "Debian's webhook",
    pid: child.pid ?? 0,
    port,
    caPath,
    path: '/hooks/leads',
    share: 0.05,
    stop,
  };
}

async function drive(server: Server, count: number): Promise<Measure> {
  run += 1;
  const { port, caPath, path } = server;
  const load = { ports: [port], caPath, path, secret, connections: 100, requests: count, prefix: `r${run}` };
  const [command = '', ...args] = onCore(1, [process.execPath, loadProgram, JSON.stringify(load)]);
  const before = cpuSeconds(server.pid);
  const { stdout } = await promisify(execFile)(command, args);
  const cpu = cpuSeconds(server.pid) - before;
  const outcome = JSON.parse(stdout) as Outcome;
  expect(outcome.others).toEqual({});
  expect(outcome.accepted).toBe(count);
  const { median, p99 } = outcome;
  return { rate: count / outcome.seconds, perCpuSecond: count / cpu, median, p99 };
}

const middle = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

test(`${requests} deliveries over 100 connections, median of ${rounds} rounds`, async () => {
  const measured = new Map<Server, Measure[]>(servers.map((server) => [server, []]));
  for (const server of servers) await drive(server, requests * server.share * 0.2);
  for (let round = 0; round < rounds; round += 1) {
    for (const [server, measures] of measured) measures.push(await drive(server, requests * server.share));
  }
  const of = (server: Server | undefined, key: keyof Measure): number =>
    middle((server === undefined ? [] : (measured.get(server) ?? [])).map((one) => one[key]));
  const [yardstick, durable, , webhook] = servers;
  console.log(
    [
      'listen                            per second    ×   per CPU s    ×    p50 ms   p99 ms',
      ...servers.map((server) => {
        const ratio = (key: keyof Measure): string => (of(server, key) / of(yardstick, key)).toFixed(2);
        return [
          server.name.padEnd(32),
          of(server, 'rate').toFixed(0).padStart(11),
          ratio('rate').padStart(7),
          of(server, 'perCpuSecond').toFixed(0).padStart(9),
          ratio('perCpuSecond').padStart(7),
          of(server, 'median').toFixed(1).padStart(8),
          of(server, 'p99').toFixed(1).padStart(8),
        ].join(' ');
      }),
      webhook === undefined ? "Debian's webhook is not installed here" : '',
    ].join('\n'),
  );
  expect(of(durable, 'rate') / of(yardstick, 'rate')).toBeGreaterThanOrEqual(0.25);
  if (webhook !== undefined) {
    expect(of(durable, 'rate') / of(webhook, 'rate')).toBeGreaterThanOrEqual(10);
  }
});

test(`memory over ${deliveries} deliveries`, async () => {
  for (const server of servers.slice(1, 3)) {
    const sizes: number[] = [];
    for (let part = 0; part < 10; part += 1) {
      await drive(server, deliveries / 10);
      sizes.push(Math.round(residentBytes(server.pid) / 1e6));
    }
    console.log(`${server.name}: resident MB after each tenth of ${deliveries}: ${sizes.join(' ')}`);
  }
});
