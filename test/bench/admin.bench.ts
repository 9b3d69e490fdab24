import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { cpuSeconds, startListen } from '../support/listening.ts';
import { median } from '../support/measure.ts';
import { onCore } from '../support/on-core.ts';
import { buildProgram } from '../support/program.ts';
import { driveLoad } from './listen/drive-load.ts';
import type { Outcome } from './listen/load.ts';

/**
 * What `--admin` costs: the same load on receivers with and without it, each pair in processes of its own, since two
 * processes of one program differ by more than what is measured.
 */
const pairs = Number(process.env['LEADS_BENCH_ROUNDS'] ?? 9);
const requests = 10_000;
const dir = mkdtempSync(join(tmpdir(), 'leads-bench-'));

afterAll(() => rmSync(dir, { recursive: true, force: true }));

interface Measure {
  readonly rate: number;
  readonly perCpuSecond: number;
}

async function measure(load: string, name: string, flags: readonly string[]): Promise<Measure> {
  const inbox = join(dir, `${name}.db`);
  const listening = await startListen(
    ['--scheme', 'github', '--secret', 'bench-secret', '--inbox', inbox, ...flags],
    { dataDir: join(dir, 'data'), under: onCore(0, []) },
  );
  const { pid } = listening;
  const drive = (count: number, prefix: string): Promise<Outcome> =>
    driveLoad(load, listening, 'bench-secret', { count, prefix });
  try {
    await drive(requests / 2, 'warm');
    const before = cpuSeconds(pid);
    const { seconds, accepted } = await drive(requests, 'measured');
    expect(accepted).toBe(requests);
    return { rate: requests / seconds, perCpuSecond: requests / (cpuSeconds(pid) - before) };
  } finally {
    listening.child.kill('SIGKILL');
  }
}

test(`--admin over ${requests} deliveries, ${pairs} pairs`, async () => {
  const load = await buildProgram(new URL('./listen/load.ts', import.meta.url));
  const without: Measure[] = [];
  const watched: Measure[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    // In turns, since the machine is not equally busy all the time.
    const isFirst = pair % 2 === 0;
    if (isFirst) without.push(await measure(load, `without-${pair}`, []));
    watched.push(await measure(load, `watched-${pair}`, ['--admin', '0']));
    if (!isFirst) without.push(await measure(load, `without-${pair}`, []));
  }
  const ratio = (key: keyof Measure): number =>
    median(watched.map((one) => one[key])) / median(without.map((one) => one[key]));
  const of = (measures: readonly Measure[], key: keyof Measure): string =>
    median(measures.map((one) => one[key])).toFixed(0);
  console.log(
    [
      'listen            per second   per CPU s',
      `without --admin   ${of(without, 'rate').padStart(10)} ${of(without, 'perCpuSecond').padStart(11)}`,
      `--admin 0         ${of(watched, 'rate').padStart(10)} ${of(watched, 'perCpuSecond').padStart(11)}`,
      `ratio             ${ratio('rate').toFixed(2).padStart(10)} ${ratio('perCpuSecond').toFixed(2).padStart(11)}`,
    ].join('\n'),
  );
  // By the CPU's time: other programs on the machine disturb the rates.
  expect(ratio('perCpuSecond')).toBeGreaterThanOrEqual(0.97);
});
