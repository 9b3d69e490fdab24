import { expect, test } from 'vitest';
import type { Probe } from '../../src/check/probe.ts';
import { runProbes } from '../../src/check/run-probes.ts';
import { type CheckSession, createSession } from '../../src/check/session.ts';
import { endpointOf } from '../../src/check/endpoint.ts';
import { systemClock } from '../../src/time/clock.ts';
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

const session = (signal = new AbortController().signal): CheckSession =>
  createSession({
    endpoint: endpointOf(new URL('http://127.0.0.1:1/'), { authorities: [], insecure: false }, undefined),
    signer: { scheme: unverified, key: undefined },
    mayStore: true,
    runName: 'test',
    clock: systemClock,
    timeoutMs: 50,
    signal,
    oracle: undefined,
  });

test('reports come in the order of the probes, and the last probes run after the others', async () => {
  const begun: string[] = [];
  const noted = (name: string, more: Partial<Probe> = {}): Probe =>
    probe(name, { ...more, run: () => (begun.push(name), { result: 'pass', seen: '' }) });
  const probes = [noted('last', { runsLast: true }), noted('first')];
  const reports = await runProbes(probes, session());
  expect(begun).toEqual(['first', 'last']);
  expect(reports.map((report) => report.probe)).toEqual(probes);
});

test('an interruption ends the run with its reason', async () => {
  const stop = new AbortController();
  const interrupted = probe('interrupted', {
    run: () => (stop.abort(new Error('Ctrl-C')), { result: 'pass', seen: '' }),
  });
  await expect(runProbes([interrupted], session(stop.signal))).rejects.toThrow('Ctrl-C');
});

test('what is only worth knowing never fails', async () => {
  const info = probe('info', { level: 'info', run: () => Promise.resolve({ result: 'fail', seen: '' }) });
  expect((await runProbes([info], session()))[0]?.finding.result).toBe('warn');
});

test('an error that is not of the connection is a bug, and ends the run', async () => {
  const broken = probe('broken', { run: () => Promise.reject(new TypeError('oops')) });
  await expect(runProbes([broken], session())).rejects.toThrow('oops');
});
