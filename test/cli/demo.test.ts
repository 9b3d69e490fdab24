import { existsSync } from 'node:fs';
import { request } from 'undici';
import { expect, test } from 'vitest';
import { type RunningProgram, startProgram } from '../support/listen-process.ts';
import { freshHome } from '../support/run.ts';

/** A dozen commands, each started anew, on a machine that may be busy. */
const patience = 90_000;

const demo = (): RunningProgram =>
  startProgram(['demo'], freshHome(), {
    LEADS_API_KEY: 'the-users-own-key',
    LEADS_BASE_URL: 'https://invalid.example',
  });

async function ended(tour: RunningProgram) {
  const { exitCode } = await tour.done;
  return { exitCode, stdout: tour.stdout(), stderr: tour.stderr() };
}

test(
  'the tour runs to its end: table, NDJSON, accepted, duplicate and rejected, a lost lead found and repaired',
  { timeout: patience },
  async () => {
    const { exitCode, stdout, stderr } = await ended(demo());
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout.match(/^\d\. .*$/gm)).toHaveLength(8);
    expect(stdout.match(/^\$ leads \w+/gm)?.map((line) => line.slice(8))).toEqual([
      'listen',
      'sandbox',
      'list',
      'export',
      'audit',
      'audit',
    ]);
    expect(stdout.match(/ accepted {3}lead_/g)).toHaveLength(5);
    expect(stdout.match(/ duplicate {2}lead_/g)).toHaveLength(1);
    expect(stdout.match(/ rejected {3}401 wrong_credential/g)).toHaveLength(1);
    expect(stdout).toMatch(/^missing +1 +16\.67% +pulled, never received$/m);
    expect(stdout).toMatch(/^missing +lead_\w+ .* repaired$/m);
    expect(stdout).toContain('1 of 1 leads acknowledged by https://localhost:');
    expect(stdout).toContain('✓ 6 pulled, 6 received: no lead is missing, and none differs');
    const directory = /in (\S+leads-demo-\w+)\./.exec(stdout)?.[1] ?? '';
    expect(existsSync(directory)).toBe(false);
    expect(stdout).not.toContain('\u001b');
  },
);

test('two tours at a time have ports of their own', { timeout: patience }, async () => {
  const tours = await Promise.all([ended(demo()), ended(demo())]);
  const ports = tours.map(({ exitCode, stdout, stderr }) => {
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const service = /^ready: http:\/\/127\.0\.0\.1:(\d+) /m.exec(stdout)?.[1];
    const receiver = /^listening on https:\/\/localhost:(\d+)/m.exec(stdout)?.[1];
    expect(/^\$ leads sandbox .*?(?: --port (\d+))? \\$/m.exec(stdout)?.[1] ?? '8080').toBe(service);
    expect(/^\$ leads listen .*?(?: --port (\d+))?$/m.exec(stdout)?.[1] ?? '8443').toBe(receiver);
    return [service, receiver];
  });
  expect(new Set(ports.flat()).size).toBe(4);
});

test('Ctrl-C in the middle ends everything and leaves nothing behind', { timeout: patience }, async () => {
  const tour = demo();
  const { child, stdout } = tour;
  await expect.poll(stdout, { timeout: patience }).toMatch(/^ready: /m);
  child.kill('SIGINT');
  const { exitCode, stderr } = await ended(tour);
  const directory = /in (\S+leads-demo-\w+)\./.exec(stdout())?.[1] ?? '';
  expect({ exitCode, stderr }).toEqual({
    exitCode: 130,
    stderr: `the service and the receiver are stopped, ${directory} is removed\n`,
  });
  expect(existsSync(directory)).toBe(false);
  const url = /ready: (\S+)/.exec(stdout())?.[1] ?? '';
  await expect(request(url)).rejects.toThrow();
});
