import { expect, test } from 'vitest';
import type { Probe } from '../../src/check/probe.ts';
import { runProbes } from '../../src/check/run-probes.ts';
import { CheckSession } from '../../src/check/session.ts';
import { endpointOf } from '../../src/check/endpoint.ts';
import { systemClock } from '../../src/time/clock.ts';
import { startReceiver } from './obedient-receiver.ts';
import { unverified } from '../../src/webhook/scheme.ts';

const probe = (name: string, more: Partial<Probe> = {}): Probe => ({
  name: `test.${name}`,
  rule: '4.2',
  level: 'must',
  expected: 'something',
  hint: '',
  run: () => Promise.resolve({ result: 'pass', seen: name }),
  ...more,
});

const session = (signal: AbortSignal, url = new URL('http://127.0.0.1:1/')): CheckSession =>
  new CheckSession({
    endpoint: endpointOf(url, { authorities: [], insecure: false }, undefined),
    signer: { scheme: unverified, key: undefined },
    run: 'test',
    clock: systemClock,
    timeoutMs: 50,
    signal,
    oracle: undefined,
  });

const options = (isOver: () => boolean = () => false, signal = new AbortController().signal) => ({
  session: session(signal),
  mayWrite: true,
  timeoutMs: 50,
  isOver,
  signal,
  onReport: () => Promise.resolve(),
});

test('reports come in the order of the probes, and a slow probe begins before the others', async () => {
  const begun: string[] = [];
  const noted = (name: string, more: Partial<Probe> = {}): Probe =>
    probe(name, { ...more, run: () => (begun.push(name), Promise.resolve({ result: 'pass', seen: '' })) });
  const probes = [noted('last', { stage: 'last' }), noted('quick'), noted('slow', { isSlow: true })];
  const reports = await runProbes(probes, options());
  expect(begun).toEqual(['slow', 'quick', 'last']);
  expect(reports.map((report) => report.probe)).toEqual(probes);
});

test('a receiver that takes unsigned leads stores none where none may be written', async () => {
  let asked = 0;
  const { url, stored } = await startReceiver('token', 'token', () => ({
    authenticates: () => true,
    withBody: () => ((asked += 1), false),
  }));
  const { signal } = new AbortController();
  const harmless = probe('alone', { stage: 'alone', isHarmless: true });
  await runProbes([harmless], {
    ...options(),
    session: session(signal, new URL(url)),
    mayWrite: false,
    timeoutMs: 5000,
  });
  // Before the probe and after it.
  expect([asked, stored.size]).toEqual([2, 0]);
});

test('a probe is over when its time is', async () => {
  const waits = probe('waits', {
    run: async ({ clock, wire }) => (await clock.sleep(60_000, wire.signal), { result: 'pass', seen: '' }),
  });
  const [report] = await runProbes([waits], options());
  expect(report?.finding).toEqual({ result: 'fail', seen: 'it took longer than 50ms' });
});

test('what has not run when the time of the whole is up says so', async () => {
  let isOver = false;
  const first = probe('first', {
    run: () => ((isOver = true), Promise.resolve({ result: 'pass', seen: '' })),
  });
  const reports = await runProbes(
    [first, probe('second')],
    options(() => isOver),
  );
  expect(reports.map(({ isCut, finding }) => [isCut, finding.result])).toEqual([
    [true, 'skip'],
    [true, 'skip'],
  ]);
});

test('what is only worth knowing never fails', async () => {
  const info = probe('info', { level: 'info', run: () => Promise.resolve({ result: 'fail', seen: '' }) });
  expect((await runProbes([info], options()))[0]?.finding.result).toBe('warn');
});

test('an error that is not of the connection is a bug, and ends the run', async () => {
  const broken = probe('broken', { run: () => Promise.reject(new TypeError('oops')) });
  await expect(runProbes([broken], options())).rejects.toThrow('oops');
});
