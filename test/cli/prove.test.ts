import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { binary, environment, type ListenProcess, listenProcess } from '../support/listen-process.ts';
import { requireValidJson } from '../support/valid-json.ts';

const secret = 'a-Shared-Secret-of-the-Tests';
let listener: ListenProcess;

beforeAll(async () => {
  listener = await listenProcess(['--scheme', 'github', '--secret', secret, '--port', '0', '--json']);
});

afterAll(() => listener.end('SIGKILL'));

/** The real binary in the listener's home, so that it trusts the same local authority. */
async function leads(...argv: readonly string[]) {
  const env = {
    ...environment(listener.home),
    PATH: process.env['PATH'] ?? '',
    LEADS_WEBHOOK_SECRET: secret,
  };
  const { stdout, stderr, exitCode } = await execa(process.execPath, [binary, ...argv], {
    env,
    reject: false,
  });
  requireValidJson(argv, stdout, stderr);
  return { stdout, stderr, exitCode };
}

describe('one side is proven by the other, over HTTPS', () => {
  it('check finds nothing wrong with listen, and prints one object a line', async () => {
    const run = await leads('check', listener.url, '--scheme', 'github', '--json');
    const records = run.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(records.filter(({ result }) => result === 'fail')).toEqual([]);
    expect(records.at(-1)).toMatchObject({ type: 'summary', target: `${listener.url}/`, fail: 0 });
    expect([run.exitCode, run.stderr]).toEqual([0, '']);
    expect(run.stdout).not.toContain(secret);
  });

  it('check ends with 7 where the two have other secrets, and with 5 where nobody listens', async () => {
    const other = await leads(
      'check',
      listener.url,
      '--scheme',
      'github',
      '--secret',
      'other',
      '--only',
      'delivery',
    );
    expect([other.exitCode, other.stdout]).toEqual([7, expect.stringContaining('it answered 401')]);
    const nobody = await leads('check', 'http://127.0.0.1:1/', '--scheme', 'github');
    expect([nobody.exitCode, nobody.stderr]).toEqual([5, expect.stringContaining('connection refused')]);
  });

  it('verify says that a dry run of send is genuine, and what happened to one that is not', async () => {
    const { stdout } = await leads('send', listener.url, '--scheme', 'github', '--dry-run=http');
    const capture = join(listener.home, 'delivery.http');
    writeFileSync(capture, stdout.trimEnd());
    const genuine = await leads('verify', capture, '--scheme', 'github');
    expect([genuine.exitCode, genuine.stdout]).toEqual([0, expect.stringMatching(/^genuine$/m)]);
    const changed = join(listener.home, 'changed.http');
    writeFileSync(
      changed,
      stdout
        .trimEnd()
        .replace(/Content-Length: .*\r?\n/i, '')
        .replace(/\{/, '\ufeff{'),
    );
    const found = await leads('verify', changed, '--scheme', 'github', '--json');
    const { ok, wouldMatch } = JSON.parse(found.stdout) as {
      ok: boolean;
      wouldMatch: { what: string } | null;
    };
    expect([found.exitCode, ok, wouldMatch?.what]).toEqual([
      7,
      false,
      expect.stringContaining('without its byte order mark'),
    ]);
    expect(genuine.stdout + found.stdout + found.stderr).not.toContain(secret);
    const other = await leads('verify', capture, '--scheme', 'slack');
    const [, fix = ''] = /^fix: (.*)$/m.exec(other.stdout) ?? [];
    const command = `'${process.execPath}' '${binary}' verify '${capture}' ${fix}`;
    const env = { ...environment(listener.home), LEADS_WEBHOOK_SECRET: secret };
    const typed = await execa('sh', ['-c', command], { env, reject: false });
    expect([typed.exitCode, typed.stdout], fix).toEqual([0, expect.stringMatching(/^genuine$/m)]);
  });
});
