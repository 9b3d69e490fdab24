import { expect, test } from 'vitest';
import type { Probe } from '../../src/check/probe.ts';
import { probes, runProbes } from '../../src/check/run-probes.ts';
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

const session = (
  signal: AbortSignal,
  url = new URL('http://127.0.0.1:1/'),
  { clock = systemClock, timeoutMs = 50, mayWrite = true } = {},
): CheckSession =>
  new CheckSession({
    endpoint: endpointOf(url, { authorities: [], insecure: false }, undefined),
    signer: { scheme: unverified, key: undefined },
    mayWrite,
    run: 'test',
    clock,
    timeoutMs,
    signal,
    oracle: undefined,
  });

const options = (isOver: () => boolean = () => false, signal = new AbortController().signal) => ({
  session: session(signal),
  isOver,
  signal,
  onReport: () => undefined,
});

test('reports come in the order of the probes, and phase follows phase', async () => {
  const begun: string[] = [];
  const noted = (name: string, more: Partial<Probe> = {}): Probe =>
    probe(name, { ...more, run: () => (begun.push(name), { result: 'pass', seen: '' }) });
  const alone = noted('alone', { phase: 'alone' });
  const probes = [noted('end', { phase: 'end' }), alone, noted('light')];
  const { url } = await startReceiver('token', 'token');
  const { signal } = new AbortController();
  const reports = await runProbes(probes, { ...options(), session: session(signal, new URL(url)) });
  expect(begun).toEqual(['light', 'alone', 'end']);
  expect(reports.map((report) => report.probe)).toEqual(probes);
});

test('a receiver that takes unsigned leads stores none where none may be written', async () => {
  let asked = 0;
  const { url, stored } = await startReceiver('token', 'token', () => ({
    authenticates: () => true,
    withBody: () => ((asked += 1), false),
  }));
  const { signal } = new AbortController();
  const harmless = probes.filter(({ name }) => name === 'protocol.malformed');
  const reports = await runProbes(harmless, {
    ...options(),
    session: session(signal, new URL(url), { timeoutMs: 5000, mayWrite: false }),
  });
  expect(reports.map(({ finding }) => finding.result)).toEqual(['pass']);
  // Before the probe and after it.
  expect([asked, stored.size]).toEqual([2, 0]);
});

test('a receiver that acknowledges after 20 s is found although it takes the time of the whole run', async () => {
  const { url } = await startReceiver('token', 'token', () => ({
    authenticates: () => true,
    answer: (response, status) => void setTimeout(() => response.writeHead(status).end(), 200),
  }));
  const whole = new AbortController();
  const user = new AbortController();
  const clock = { ...systemClock, steady: () => systemClock.steady() * 100 };
  const end = setTimeout(() => whole.abort(), 900);
  const reports = await runProbes(probes, {
    session: session(whole.signal, new URL(url), { clock, timeoutMs: 300 }),
    isOver: () => whole.signal.aborted,
    signal: user.signal,
    onReport: () => undefined,
  });
  clearTimeout(end);
  const time = reports.find((report) => report.probe.name === 'health.time');
  expect(time?.finding.result).toBe('fail');
  // On a busy machine an answer comes later still.
  expect(time?.finding.seen).toMatch(/^the slowest of \d+ took [2-9]\d/);
  expect(reports.some(({ isCut }) => isCut)).toBe(true);
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
