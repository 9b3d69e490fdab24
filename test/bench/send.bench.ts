import { execFile, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensureAuthority } from '../../src/tls/local-authority.ts';
import { cpuSeconds } from '../support/listening.ts';
import { median, printTable } from '../support/measure.ts';
import { isPinned, onCore } from '../support/on-core.ts';
import { buildProgram } from '../support/program.ts';

/**
 * `leads send` at 100 connections against a bare node https server that answers 200, beside autocannon (8, by npx), which
 * sends one signed request again and again, while `send` signs each and prints a line of JSON for each. Server and client
 * have a core each, where there are two.
 */
const rounds = Number(process.env['LEADS_BENCH_ROUNDS'] ?? 7);
const requests = 30_000;
const connections = '100';
const secret = 'bench-secret';
const lead = JSON.stringify({ id: 'lead_1', category: 'solar', metadata: { note: 'x'.repeat(430) } });

const run = promisify(execFile);
const bin = fileURLToPath(new URL('../../bin/leads.js', import.meta.url));
const dir = mkdtempSync(join(tmpdir(), 'leads-bench-'));
const env = {
  ...process.env,
  LEADS_DATA_DIR: dir,
  LEADS_CONFIG_DIR: join(dir, 'config'),
  NODE_EXTRA_CA_CERTS: '',
};
let server: ReturnType<typeof spawn>;
let url: string;

beforeAll(async () => {
  writeFileSync(join(dir, 'lead.json'), lead);
  const { caPath } = await ensureAuthority(dir, { now: Date.now });
  const bare = await buildProgram(new URL('./listen/bare.ts', import.meta.url));
  const [program = '', ...args] = onCore(0, [process.execPath, bare, join(dirname(caPath), 'server.pem')]);
  server = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(server.stdout as NonNullable<typeof server.stdout>, 'data')) as [Buffer];
  url = `https://localhost:${line.toString().trim()}/hook`;
}, 60_000);

afterAll(() => server.kill('SIGKILL'));

interface Round {
  /** Answers a second, from the first request to the last answer. */
  readonly rate: number;
  /** The server's processor time for one of them, in microseconds. */
  readonly serverUs: number;
  /** The client's, its start included. */
  readonly clientUs: number;
}

async function measured(work: () => Promise<number>): Promise<Round> {
  // That of ended children counts as this process's own.
  const spent = (): [number, number] => [cpuSeconds(server.pid ?? 0), cpuSeconds(process.pid)];
  const [serverBefore, clientBefore] = spent();
  const rate = await work();
  const [serverAfter, clientAfter] = spent();
  const each = (seconds: number): number => (seconds * 1e6) / requests;
  return { rate, serverUs: each(serverAfter - serverBefore), clientUs: each(clientAfter - clientBefore) };
}

async function autocannon(): Promise<number> {
  const signature = `sha256=${createHmac('sha256', secret).update(lead).digest('hex')}`;
  const headers = ['-H', 'content-type=application/json', '-H', `x-hub-signature-256=${signature}`];
  const [program = '', ...args] = onCore(1, [
    ...['npx', '--yes', 'autocannon@8', '-c', connections, '-a', String(requests), '-m', 'POST'],
    ...[...headers, '-b', lead, '--json', url],
  ]);
  const { stdout } = await run(program, args, { env: { ...env, NODE_TLS_REJECT_UNAUTHORIZED: '0' } });
  const result = JSON.parse(stdout) as { '2xx': number; errors: number; duration: number };
  expect([result['2xx'], result.errors]).toEqual([requests, 0]);
  return requests / result.duration;
}

async function send(): Promise<number> {
  const [program = '', ...args] = onCore(1, [
    ...[process.execPath, bin, 'send', url, '--scheme', 'github', '--secret', secret, '--json'],
    ...['--lead', join(dir, 'lead.json'), '--repeat', String(requests), '--concurrency', connections],
  ]);
  const { stdout } = await run(program, args, { env, maxBuffer: 1 << 28 });
  const summary = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as {
    acknowledged: number;
    achievedRate: number;
  };
  expect(summary.acknowledged).toBe(requests);
  return summary.achievedRate;
}

test('send reaches 0.6 of the rate of autocannon', { timeout: 900_000 }, async () => {
  const yardstick: Round[] = [];
  const ours: Round[] = [];
  for (let round = 0; round < rounds; round += 1) {
    yardstick.push(await measured(autocannon));
    ours.push(await measured(send));
  }
  const rate = (all: readonly Round[]): number => median(all.map((one) => one.rate));
  const row = (name: string, all: readonly Round[]): string[] => [
    name,
    String(Math.round(rate(all))),
    (rate(all) / rate(yardstick)).toFixed(2),
    median(all.map((one) => one.serverUs)).toFixed(0),
    median(all.map((one) => one.clientUs)).toFixed(0),
  ];
  printTable(
    `${requests} signed POSTs over HTTPS, ${connections} connections${isPinned ? ', a core each' : ''}`,
    [
      ['', 'requests/s', '×', "server's CPU µs", "client's"],
      row('autocannon', yardstick),
      row('leads send', ours),
    ],
  );
  expect(rate(ours) / rate(yardstick)).toBeGreaterThanOrEqual(0.6);
});
