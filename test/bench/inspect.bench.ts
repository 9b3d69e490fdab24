import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { openInbox } from '../../src/inbox/open-inbox.ts';
import { systemClock } from '../../src/time/clock.ts';
import {
  type InspectClient,
  inspectClient,
  inspectProcess,
  inspectUrlIn,
} from '../support/inspect-process.ts';
import { cpuSeconds, type Listening, startListen } from '../support/listening.ts';
import { freshHome } from '../support/run.ts';
import { median, printTable } from '../support/measure.ts';
import { onCore } from '../support/on-core.ts';
import { buildProgram } from '../support/program.ts';
import { driveLoad } from './listen/drive-load.ts';
import type { Outcome } from './listen/load.ts';

/** The same load on receivers with and without the page, each in a process of its own, in turns. */
const pairs = Number(process.env['LEADS_BENCH_ROUNDS'] ?? 3);
// For some seconds: the page's start is paid once.
const requests = 60_000;
const stored = 100_000;
const dir = mkdtempSync(join(tmpdir(), 'leads-bench-'));

afterAll(() => rmSync(dir, { recursive: true, force: true }));

interface Measure {
  readonly rate: number;
  readonly perCpuSecond: number;
  /** Of the receiver at the end, in bytes. */
  readonly memory: number;
  /** Lines of events a second; 0 without the page. */
  readonly lines: number;
  readonly searches: number;
}

/** Reads the stream of events, and searches once a second, until it is stopped. */
function watch(client: InspectClient) {
  const stop = new AbortController();
  const counted = { lines: 0, searches: 0 };
  const reading = async (): Promise<void> => {
    const { body } = await client.get('/api/events', stop.signal);
    for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      counted.lines += text.split('\n').length - 1;
    }
  };
  const searching = async (): Promise<void> => {
    for (;;) {
      await (await client.get('/api/search?q=nobody-has-this-text', stop.signal)).text();
      counted.searches += 1;
      await setTimeout(1000, undefined, { signal: stop.signal });
    }
  };
  const done = Promise.allSettled([reading(), searching()]);
  return {
    async end() {
      stop.abort();
      await done;
      return counted;
    },
  };
}

async function measure(load: string, name: string, flags: readonly string[]): Promise<Measure> {
  const listening: Listening = await startListen(
    ['--scheme', 'github', '--secret', 'bench-secret', '--inbox', join(dir, `${name}.db`), ...flags],
    { dataDir: join(dir, 'data'), under: onCore(0, []) },
  );
  const { pid } = listening;
  const drive = (count: number, prefix: string): Promise<Outcome> =>
    driveLoad(load, listening, 'bench-secret', { count, prefix });
  const url = inspectUrlIn(listening.stderr());
  try {
    await drive(5000, 'warm');
    const watched = url === undefined ? undefined : watch(await inspectClient(url));
    const before = cpuSeconds(pid);
    const { seconds, accepted } = await drive(requests, 'measured');
    const perCpuSecond = requests / (cpuSeconds(pid) - before);
    expect(accepted).toBe(requests);
    const { lines, searches } = (await watched?.end()) ?? { lines: 0, searches: 0 };
    return {
      rate: requests / seconds,
      perCpuSecond,
      memory: listening.memory(),
      lines: lines / seconds,
      searches,
    };
  } finally {
    listening.child.kill('SIGKILL');
  }
}

test(`listen --inspect over ${requests} deliveries, ${pairs} pairs`, async () => {
  const load = await buildProgram(new URL('./listen/load.ts', import.meta.url));
  const without: Measure[] = [];
  const watched: Measure[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    const isFirst = pair % 2 === 0;
    if (isFirst) without.push(await measure(load, `without-${pair}`, []));
    watched.push(await measure(load, `watched-${pair}`, ['--inspect']));
    if (!isFirst) without.push(await measure(load, `without-${pair}`, []));
  }
  const of = (measures: readonly Measure[], key: keyof Measure): number =>
    median(measures.map((one) => one[key]));
  const ratio = of(watched, 'rate') / of(without, 'rate');
  const cpuRatio = of(watched, 'perCpuSecond') / of(without, 'perCpuSecond');
  const moreMemory = (of(watched, 'memory') - of(without, 'memory')) / 1e6;
  printTable('listen', [
    ['', 'per second', 'per CPU s', 'memory, MB', 'lines per second', 'searches'],
    ...(
      [
        ['without', without],
        ['--inspect, read and searched', watched],
      ] as const
    ).map(([name, measures]) => [
      name,
      of(measures, 'rate').toFixed(0),
      of(measures, 'perCpuSecond').toFixed(0),
      (of(measures, 'memory') / 1e6).toFixed(1),
      of(measures, 'lines').toFixed(1),
      of(measures, 'searches').toFixed(0),
    ]),
    ['ratio, difference', ratio.toFixed(2), cpuRatio.toFixed(2), moreMemory.toFixed(1), '', ''],
  ]);
  expect(ratio).toBeGreaterThanOrEqual(0.85);
  expect(Math.max(...watched.map(({ lines }) => lines))).toBeLessThanOrEqual(10);
  expect(moreMemory).toBeLessThanOrEqual(30);
});

test(`a list page and the first result of a search among ${stored} deliveries`, async () => {
  const location = join(dir, 'large.db');
  const inbox = await openInbox({ location, clock: systemClock });
  const lead = (n: number): string =>
    `{"id":"lead_${n}","category":"solar","contact":{"name":"${n === 7 ? 'Ada Oldest' : 'Somebody Else'}","email":"a${n}@example.com"},` +
    `"metadata":{"note":"${'x'.repeat(300)}\\n"},"createdAt":"2026-01-15T12:00:00.000Z"}`;
  for (let n = 0; n < stored; n += 1000) {
    await inbox.take(
      Array.from({ length: 1000 }, (_, i) => ({
        leadId: `lead_${n + i}`,
        delivery: {
          method: 'POST',
          path: '/',
          url: 'https://localhost/',
          rawHeaders: [['Content-Type', 'application/json']],
          body: Buffer.from(lead(n + i)),
          remote: '127.0.0.1',
          receivedAt: Date.now(),
        },
      })),
    );
  }
  await inbox.close();
  const page = await inspectProcess(['--inbox', location], freshHome());
  try {
    const client = await inspectClient(page.url);
    const timed = async (path: string, isEnough: RegExp): Promise<number> => {
      const startedAt = performance.now();
      const stop = new AbortController();
      const { body } = await client.get(path, stop.signal);
      let text = '';
      for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += piece;
        if (isEnough.test(text)) break;
      }
      expect(text).toMatch(isEnough);
      const ms = performance.now() - startedAt;
      stop.abort();
      return ms;
    };
    const asked: readonly (readonly [string, string, RegExp])[] = [
      ['first page of the list', '/api/deliveries', /"next":\d+/],
      ['page in the middle', '/api/deliveries?before=50000', /"next":\d+/],
      ['search: common, first result', '/api/search?q=somebody', /"found"/],
      ['search: the oldest one, first result', '/api/search?q=ada%20oldest', /"found"/],
      ['search: nothing, to its end', '/api/search?q=nobody-has-this', /"end"/],
      ['search: a phone number, to its end', '/api/search?q=%2B49%2030%2012345', /"end"/],
      ['search: beyond ASCII, to its end', '/api/search?q=%E4%BD%90%E8%97%A4', /"end"/],
      ['charts of a day', '/api/charts', /"bucketMs"/],
    ];
    const rows: (readonly [string, number])[] = [];
    for (const [name, path, isEnough] of asked) {
      const times: number[] = [];
      for (let round = 0; round < 5; round += 1) times.push(await timed(path, isEnough));
      rows.push([name, median(times)]);
    }
    printTable(
      `${stored} deliveries`,
      rows.map(([name, ms]) => [name, `${ms.toFixed(0)} ms`]),
    );
    const msOf = (start: string): number =>
      Math.max(...rows.filter(([name]) => name.startsWith(start)).map(([, ms]) => ms));
    expect(msOf('first page')).toBeLessThanOrEqual(300);
    expect(msOf('search: the oldest')).toBeLessThanOrEqual(500);
  } finally {
    await page.end('SIGKILL');
  }
});
