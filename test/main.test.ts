import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { InterruptedError } from '../src/errors.ts';
import type { Host } from '../src/host.ts';
import { commands } from '../src/program.ts';
import { report } from '../src/report-error.ts';
import { leads, memory, startLeads } from './support/run.ts';

describe('leads', () => {
  it.each([[], ['--help'], ['-h'], ['help'], ['--no-color', '--help'], ['-v', 'help']])(
    'shows its help for %j on one screen',
    async (...argv) => {
      const { exitCode, stdout, stderr } = await leads(argv);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      expect(stdout.trimEnd().split('\n').length).toBeLessThanOrEqual(23);
      for (const command of commands) expect(stdout).toContain(command.name);
      for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    },
  );

  it.each([['--version'], ['-V'], ['list', '--version'], ['-V', 'config', 'set']])(
    'prints its version for %j',
    async (...argv) => {
      expect(await leads(argv)).toEqual({ exitCode: 0, stdout: '0.0.0-test\n', stderr: '' });
    },
  );

  it.each([
    [['lgin'], "unknown command 'lgin'", 'login'],
    [['--nope'], "unknown option '--nope'", 'leads --help'],
    [['config', 'foo'], "unknown command 'config foo'", 'leads help config'],
    [['list', '--limit', '3', '-n', '4'], '--limit is given two values', 'leave one of them out'],
    [['--timeout', '3s', 'list', '--timeout', '4s'], '--timeout is given two values', 'leave one'],
    [['export', '--follow', '1ms'], "--follow: '1ms' is not a duration of a second or more", undefined],
    [['sandbox', '--every', '0ms'], "--every: '0ms' is not a duration above zero", undefined],
    [['help', 'lgin'], "unknown command 'lgin'", 'login'],
    [['lgin', '--help'], "unknown command 'lgin'", 'login'],
    [['-v', 'help', 'lgin'], "unknown command 'lgin'", 'login'],
    [['--limit', '3', 'help', 'list'], "unknown option '--limit'", 'after its name'],
  ])('answers %j with one clear line and exit 2', async (argv, message, hint) => {
    const { exitCode, stdout, stderr } = await leads(argv);
    expect(exitCode).toBe(2);
    expect(stdout).toBe('');
    const [error, hinted, ...rest] = stderr.trimEnd().split('\n');
    expect(error).toMatch(/^error: /);
    expect(error).toContain(message);
    if (hint !== undefined) expect(hinted).toContain(hint);
    expect(rest).toEqual([]);
  });

  it('writes errors as one JSON object when JSON was asked for', async () => {
    for (const words of [
      ['config', 'list', '--json'],
      ['listen', '--format', 'redacted'],
    ]) {
      const { exitCode, stderr } = await leads([...words, '--bogus']);
      expect(exitCode).toBe(2);
      expect(JSON.parse(stderr)).toMatchObject({
        error: { code: 'usage', message: "unknown option '--bogus'" },
      });
    }
  });

  it('takes --json beside another form for the contradiction that it is', async () => {
    const { exitCode, stdout, stderr } = await leads(['config', 'list', '--json', '--format', 'table']);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { message: '--json and --format table do not go together' },
    });
    expect((await leads(['config', 'list', '--json', '--format', 'json'])).exitCode).toBe(0);
  });

  it('takes global flags before and after the command', async () => {
    for (const argv of [
      ['--profile', 'work', 'config', 'list', '--json'],
      ['config', '--profile', 'work', 'list', '--json'],
      ['config', 'list', '--json', '--profile', 'work'],
    ]) {
      const { stdout } = await leads(argv);
      expect(JSON.parse(stdout)).toContainEqual({ key: 'profile', value: 'work', from: 'flag' });
    }
  });

  it('scrubs what it says', async () => {
    const { stderr } = await leads(['config', 'get', 'a\u001b[2Jb']);
    expect(stderr).not.toContain('\u001b');
  });

  it('says under which exit code a signal ended it, and nothing else', async () => {
    for (const [signal, code] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      const stdin = new PassThrough();
      const run = startLeads(['login', '--base-url', 'https://localhost:1'], { terminal: 80, stdin });
      await expect.poll(() => run.stderr.text()).toContain('API key: ');
      run.abort(new InterruptedError(signal));
      expect((await run.done).exitCode).toBe(code);
    }
  });
});

it.each([
  ['-v', true],
  ['-qv', true],
  ['-vq', true],
  ['--verbose', true],
  ['-q', false],
  ['--version', false],
])('%s prints the stack of a bug: %s', (word, hasStack) => {
  const stderr = memory(undefined);
  const host = { signal: new AbortController().signal, stderr } as unknown as Host;
  report(new Error('unforeseen'), ['list', word], host);
  expect(/^ +at /m.test(stderr.text())).toBe(hasStack);
});
