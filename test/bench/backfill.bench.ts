import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Pool } from 'undici';
import { expect, test } from 'vitest';
import { cpuSeconds } from '../support/listening.ts';
import { listenProcess } from '../support/listen-process.ts';
import { printTable } from '../support/measure.ts';
import { buildProgram } from '../support/program.ts';
import { until } from '../support/until.ts';

/**
 * How long a delivery waits for its answer while a round of `--backfill-every` passes over leads that the inbox has: 200
 * a second, open loop, over plain HTTP. The service has a process of its own.
 */
const known = 100_000;
const perSecond = 200;
const seconds = Number(process.env['LEADS_BENCH_SECONDS'] ?? 15);

async function latencies(url: string, prefix: string): Promise<number[]> {
  const pool = new Pool(url, { connections: 50 });
  const headers = { 'content-type': 'application/json', 'x-webhook-token': 't' };
  const sending: Promise<number>[] = [];
  const began = performance.now();
  for (let n = 0; n < perSecond * seconds; n += 1) {
    const due = began + (n * 1000) / perSecond;
    const wait = due - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const body = JSON.stringify({
      id: `${prefix}-${n}`,
      category: 'solar',
      createdAt: new Date().toISOString(),
    });
    sending.push(
      pool
        .request({ path: '/', method: 'POST', headers, body })
        .then(async ({ statusCode, body: answer }) => {
          await answer.dump();
          expect(statusCode).toBe(200);
          return performance.now() - due;
        }),
    );
  }
  const found = await Promise.all(sending);
  await pool.close();
  return found.sort((a, b) => a - b);
}

const at = (sorted: readonly number[], share: number): string =>
  `${(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1)} ms`;

test('deliveries while a round passes over known leads', async () => {
  const program = await buildProgram(new URL('./backfill/known-service.ts', import.meta.url));
  const service = spawn(process.execPath, [program, String(known)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(service.stdout, 'data')) as [Buffer];
  const env = { LEADS_API_KEY: 'k', LEADS_BASE_URL: line.toString().trim() };
  const argv = ['--token', 't', '--http', '--port', '0', '--backfill', '36500d'];
  const rows = [['', 'p50', 'p99', 'max', 'CPU of listen']];
  let home: string | undefined;
  for (const [name, more] of [
    ['no round runs', []],
    ['rounds all the time', ['--backfill-every', '1s']],
  ] as const) {
    const listener = await listenProcess([...argv, ...more], {
      env,
      ...(home === undefined ? {} : { home }),
    });
    home = listener.home;
    await until(() => /backfill: \d+ fetched/.test(listener.stderr()), 'the first round', 120_000);
    const before = cpuSeconds(listener.child.pid ?? 0);
    const found = await latencies(listener.url, name);
    const cpu = cpuSeconds(listener.child.pid ?? 0) - before;
    rows.push([name, at(found, 0.5), at(found, 0.99), at(found, 1), `${cpu.toFixed(1)} s`]);
    await listener.end('SIGINT');
  }
  service.kill();
  printTable(`${perSecond} deliveries a second for ${seconds} s beside ${known} known leads`, rows);
});
