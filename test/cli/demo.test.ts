import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { expect, test } from 'vitest';
import { freshHome } from '../support/run.ts';

/** A dozen commands, each started anew, on a machine that may be busy. */
const patience = 90_000;

const binary = fileURLToPath(new URL('../../bin/leads.js', import.meta.url));

interface Ended {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

function demo(argv: readonly string[]): {
  child: ReturnType<typeof spawn>;
  stdout: () => string;
  done: Promise<Ended>;
} {
  const home = freshHome();
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    LEADS_API_KEY: 'the-users-own-key',
    LEADS_BASE_URL: 'https://invalid.example',
  };
  const child = spawn(process.execPath, [binary, 'demo', ...argv], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const done = new Promise<Ended>((resolve) =>
    child.on('close', (exitCode) => resolve({ exitCode, stdout, stderr })),
  );
  return { child, stdout: () => stdout, done };
}

test(
  'the tour runs to its end: table, NDJSON, accepted, duplicate and rejected, a lost lead found and repaired',
  { timeout: patience },
  async () => {
    const { exitCode, stdout, stderr } = await demo([]).done;
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
  const ended = await Promise.all([demo([]).done, demo([]).done]);
  expect(ended.map(({ exitCode, stderr }) => ({ exitCode, stderr }))).toEqual([
    { exitCode: 0, stderr: '' },
    { exitCode: 0, stderr: '' },
  ]);
  const ports = ended.map(({ stdout }) => [
    /^ready: http:\/\/127\.0\.0\.1:(\d+) /m.exec(stdout)?.[1],
    /^listening on https:\/\/localhost:(\d+)/m.exec(stdout)?.[1],
  ]);
  expect(new Set(ports.flat()).size).toBe(4);
  for (const [index, [service, receiver]] of ports.entries()) {
    const { stdout } = ended[index] ?? { stdout: '' };
    expect(/^\$ leads sandbox .*?(?: --port (\d+))? \\$/m.exec(stdout)?.[1] ?? '8080').toBe(service);
    expect(/^\$ leads listen .*?(?: --port (\d+))?$/m.exec(stdout)?.[1] ?? '8443').toBe(receiver);
  }
});

test('Ctrl-C in the middle ends everything and leaves nothing behind', { timeout: patience }, async () => {
  const { child, stdout, done } = demo([]);
  await expect.poll(stdout, { timeout: patience }).toMatch(/^ready: /m);
  child.kill('SIGINT');
  const ended = await done;
  const directory = /in (\S+leads-demo-\w+)\./.exec(stdout())?.[1] ?? '';
  expect({ exitCode: ended.exitCode, stderr: ended.stderr }).toEqual({
    exitCode: 130,
    stderr: `the service and the receiver are stopped, ${directory} is removed\n`,
  });
  expect(existsSync(directory)).toBe(false);
  const url = /ready: (\S+)/.exec(stdout())?.[1] ?? '';
  await expect(request(url)).rejects.toThrow();
});
