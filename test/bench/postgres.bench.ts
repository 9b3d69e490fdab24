import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { openInbox } from '../../src/inbox/open-inbox.ts';
import { locationOf } from '../inbox/postgres/location.ts';
import { systemClock } from '../../src/time/clock.ts';
import { arrivalOf } from '../inbox/support.ts';
import { inParallel } from '../support/in-parallel.ts';
import { cpuSeconds, type Listening, startListen } from '../support/listening.ts';
import { median } from '../support/measure.ts';
import { onCore } from '../support/on-core.ts';
import { newInboxUrl } from '../support/postgres/address.ts';
import { descendants } from '../support/postgres/descendants.ts';
import { postgresNeeded, sharedPostgres } from '../support/postgres/shared.ts';
import { buildProgram } from '../support/program.ts';
import type { Outcome } from './listen/load.ts';

/**
 * The load of listen.bench.ts on receivers whose inbox is in PostgreSQL. Receivers have one core and the load has the
 * other; the database takes its time from both, as one on the same machine does.
 */
const roundsOfEach = Number(process.env['LEADS_BENCH_ROUNDS'] ?? 5);
const requests = 10_000;
const secret = 'bench-secret';
const dir = mkdtempSync(join(tmpdir(), 'leads-bench-'));
const address = await sharedPostgres();
const listening: Listening[] = [];
let run = 0;

afterAll(() => {
  for (const one of listening) one.child.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

async function listen(inbox: string): Promise<Listening> {
  const flags = ['--scheme', 'github', '--secret', secret, '--inbox', inbox];
  const one = await startListen(flags, { dataDir: join(dir, 'data'), under: onCore(0, []) });
  listening.push(one);
  return one;
}

function stop(receivers: readonly Listening[]): void {
  for (const one of receivers) one.child.kill('SIGKILL');
}

/** The same number of deliveries and connections, spread over so many receivers: deliveries in a second. */
async function drive(load: string, receivers: readonly Listening[], count = requests): Promise<number> {
  run += 1;
  const options = {
    ...{ ports: receivers.map(({ port }) => port), caPath: receivers[0]?.caPath, path: '/', secret },
    ...{ prefix: `r${run}`, connections: 100, requests: count },
  };
  const [command = '', ...args] = onCore(1, [process.execPath, load, JSON.stringify(options)]);
  const { stdout } = await promisify(execFile)(command, args);
  const { accepted, others, seconds } = JSON.parse(stdout) as Outcome;
  expect([accepted, others]).toEqual([count, {}]);
  return count / seconds;
}

/** CPU of the whole server since its start, in seconds. */
function serverSeconds(): number {
  const pidFile = join(address?.socketDirectory ?? '', 'data', 'postmaster.pid');
  const pid = Number.parseInt(readFileSync(pidFile, 'utf8'), 10);
  return [pid, ...descendants(pid)].reduce((sum, one) => sum + cpuSeconds(one), 0);
}

/** Of `requests` deliveries: a second, and microseconds of CPU a delivery of the receivers and of the server. */
interface Measured {
  readonly rate: number;
  readonly receivers: number;
  readonly server: number;
}

type Figure = (what: keyof Measured) => number;

async function measure(load: string, receivers: readonly Listening[]): Promise<Measured> {
  const own = (): number => receivers.reduce((sum, { child }) => sum + cpuSeconds(child.pid ?? 0), 0);
  const [ownBefore, serverBefore] = [own(), serverSeconds()];
  const rate = await drive(load, receivers);
  const of = (seconds: number): number => (seconds * 1e6) / requests;
  return { rate, receivers: of(own() - ownBefore), server: of(serverSeconds() - serverBefore) };
}

const busy = (): string => `load of the machine ${loadavg()[0]?.toFixed(1) ?? ''}`;

if (address === undefined) test.skip(postgresNeeded);
else {
  test(`${requests} deliveries into PostgreSQL and into a file, median of ${roundsOfEach} rounds`, async () => {
    const load = await buildProgram(new URL('./listen/load.ts', import.meta.url));
    const file = [await listen(join(dir, 'bench.db'))];
    const one = [await listen(newInboxUrl(address))];
    const all = [file, one];
    const rounds: Measured[][] = [];
    // So many for each receiver that its code is compiled, whatever it shares with others.
    for (const receivers of all) await drive(load, receivers, requests * receivers.length);
    for (let round = 0; round < roundsOfEach; round += 1) {
      const measured: Measured[] = [];
      for (const receivers of all) measured.push(await measure(load, receivers));
      rounds.push(measured);
    }
    const [ofFile, ofOne] = all.map(
      (_, i) => (what: keyof Measured) => median(rounds.map((measured) => measured[i]?.[what] ?? 0)),
    ) as [Figure, Figure];
    const line = (name: string, figure: Figure): string =>
      `${name.padEnd(18)} ${figure('rate').toFixed(0)} a second; CPU µs a delivery: receivers ${figure('receivers').toFixed(0)}, server ${figure('server').toFixed(0)}`;
    const ratios = {
      'rate of one × file': ofOne('rate') / ofFile('rate'),
      'receiver × file': ofOne('receivers') / ofFile('receivers'),
    };
    console.log(
      [
        `listen (${busy()})`,
        line('a file', ofFile),
        line('PostgreSQL', ofOne),
        ...Object.entries(ratios).map(([name, ratio]) => `${name}: ${ratio.toFixed(2)}`),
      ].join('\n'),
    );
    stop([...file, ...one]);
    expect(ratios['rate of one × file']).toBeGreaterThanOrEqual(0.6);
  });

  test('memory of a receiver between 5,000 and 50,000 deliveries', async () => {
    const load = await buildProgram(new URL('./listen/load.ts', import.meta.url));
    const receiver = await listen(newInboxUrl(address));
    const sizes: number[] = [];
    for (let part = 0; part < 10; part += 1) {
      await drive(load, [receiver], 5000);
      sizes.push(receiver.memory() / 1e6);
    }
    stop([receiver]);
    console.log(`resident MB after each 5,000 deliveries: ${sizes.map((size) => size.toFixed(0)).join(' ')}`);
    expect((sizes.at(-1) ?? Infinity) - (sizes[0] ?? 0)).toBeLessThanOrEqual(30);
  });

  test('a duplicate among 10,000 and among 1,000,000 ids', async () => {
    const inbox = await openInbox({ location: locationOf(newInboxUrl(address)), clock: systemClock });
    let stored = 0;
    const fill = async (to: number): Promise<void> => {
      const batches = Array.from({ length: (to - stored) / 500 }, (_, i) => stored + i * 500);
      await inParallel(batches, 2, async (first) => {
        await inbox.take(Array.from({ length: 500 }, (_, i) => arrivalOf({ id: `lead-${first + i}` })));
      });
      stored = to;
    };
    const duplicate = async (): Promise<number> => {
      const times: number[] = [];
      for (let n = 0; n < 2000; n += 1) {
        // A repeat of each lead is met once or twice.
        const id = `lead-${Math.floor(Math.random() * stored)}`;
        const since = performance.now();
        const [result] = await inbox.take([arrivalOf({ id })]);
        times.push(performance.now() - since);
        expect(result?.kind).toBe('duplicate');
      }
      return median(times);
    };
    await fill(10_000);
    await duplicate();
    const few = await duplicate();
    await fill(1_000_000);
    await duplicate();
    const many = await duplicate();
    await inbox.close();
    console.log(
      `a duplicate, p50: ${few.toFixed(2)} ms among 10,000 ids, ${many.toFixed(2)} ms among 1,000,000, ` +
        `× ${(many / few).toFixed(2)} (${busy()})`,
    );
    expect(many / few).toBeLessThanOrEqual(1.5);
  });
}
