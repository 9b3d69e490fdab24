import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, openSync, closeSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultyService, faultyService } from '../support/faulty-service.ts';
import { binary, environment, startProgram } from '../support/listen-process.ts';
import { freshHome } from '../support/run.ts';
import { until } from '../support/until.ts';

let service: FaultyService;
beforeAll(async () => {
  service = await faultyService({ leads: 3000, pageSize: 100, style: 'cursor', seed: 1 });
});
afterAll(() => service.close());

const env = () => ({ LEADS_API_KEY: 'key-0123456789', LEADS_BASE_URL: service.url });
const ids = (text: string): string[] => [...text.matchAll(/"id":"([^"]+)"/g)].map(([, id = '']) => id);

/** Starts shell text in a directory of its own, in which `$LEADS` is the program. */
const startShell = (line: string, home: string, more: NodeJS.ProcessEnv = {}) =>
  spawn('bash', ['-c', line], {
    cwd: home,
    env: {
      PATH: process.env['PATH'],
      ...environment(home),
      LEADS: `${process.execPath} ${binary}`,
      ...env(),
      ...more,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/** The same, to its end. */
async function shell(line: string, home: string): Promise<{ code: number | null; out: string; err: string }> {
  const child = startShell(line, home);
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out, err };
}

describe('export -o of what is not a regular file', () => {
  it.each([
    ['-', '| cat'],
    ['stdout', '| cat'],
    ['fd/1', '| cat'],
    ['stdout', ''],
    ['>(cat)', '| cat'],
    ['/dev/fd/5', '5>&1 | cat'],
  ])('%s %s is written as a stream, and every link stays', async (output, rest) => {
    const home = freshHome();
    // The machine's own link of this kind must not be at stake.
    symlinkSync('/proc/self/fd/1', join(home, 'stdout'));
    symlinkSync('/proc/self/fd', join(home, 'fd'));
    const { code, out, err } = await shell(`set -o pipefail; $LEADS export -o ${output} ${rest}`, home);
    expect({ code, err }).toMatchObject({ code: 0, err: expect.stringMatching(/^3,000 leads /) as string });
    expect(ids(out)).toEqual(service.ids);
    expect(lstatSync(join(home, 'stdout')).isSymbolicLink()).toBe(true);
  });

  it('what the shell has opened is continued, neither truncated nor replaced', async () => {
    const home = freshHome();
    symlinkSync('/proc/self/fd/1', join(home, 'stdout'));
    const line = '{ echo before; $LEADS -q export -o stdout --limit 2 --fields id; echo after; } > file';
    expect(await shell(line, home)).toMatchObject({ code: 0, err: '' });
    expect(readFileSync(join(home, 'file'), 'utf8')).toMatch(/^before\n\{.*\}\n\{.*\}\nafter\n$/);
  });

  it('a named pipe is written once it has a reader', async () => {
    const home = freshHome();
    execFileSync('mkfifo', [join(home, 'pipe')]);
    const line =
      '$LEADS export -o pipe 2> said & until grep -qs waiting said; do sleep 0.05; done; ' +
      'cat pipe; wait $!; code=$?; cat said >&2; exit $code';
    const { code, out, err } = await shell(line, home);
    expect(code).toBe(0);
    expect(err).toMatch(/^note: waiting for a reader of pipe\n3,000 leads to pipe /);
    expect(ids(out)).toEqual(service.ids);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('a named pipe without a reader is left on %s', async (signal, code) => {
    const home = freshHome();
    execFileSync('mkfifo', [join(home, 'pipe')]);
    const program = startProgram(['export', '-o', join(home, 'pipe')], home, env());
    await until(() => program.stderr().includes('waiting for a reader'));
    program.child.kill(signal);
    expect(await program.done).toEqual({ exitCode: code });
  });

  it('a reader that has stopped reading does not hold up Ctrl-C', async () => {
    const home = freshHome();
    const pipe = join(home, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const reader = openSync(pipe, 'r+');
    const program = startProgram(['export', '-v', '-o', pipe], home, env());
    // The first pages fill the pipe.
    await until(() => /cursor=\d{3}/.test(program.stderr()));
    program.child.kill('SIGINT');
    expect(await program.done).toEqual({ exitCode: 130 });
    expect(program.stderr()).toMatch(/hint: \d+ leads were written; the output is incomplete/);
    closeSync(reader);
  });

  it('a reader that goes away ends it', async () => {
    const home = freshHome();
    execFileSync('mkfifo', [join(home, 'pipe')]);
    const { code } = await shell('$LEADS export -o pipe & head -1 pipe > first; wait $!', home);
    expect(code).toBe(141);
  });

  it('it cannot be continued', async () => {
    const { code, err } = await shell('$LEADS export -o /dev/null --resume', freshHome());
    expect([code, err]).toEqual([2, expect.stringContaining('/dev/null is no file that can be continued')]);
  });
});

describe('export > FILE that is interrupted', () => {
  it.each([
    [[], 'SIGINT', 130],
    [['--gzip'], 'SIGTERM', 143],
  ] as const)('says how many leads the file holds: %j %s', async (flags, signal, code) => {
    const slow = await faultyService({ leads: 3000, pageSize: 10, style: 'cursor', seed: 1, latencyMs: 20 });
    const home = freshHome();
    const line = `exec $LEADS export -v ${flags.join(' ')} > out`;
    const child = startShell(line, home, { LEADS_BASE_URL: slow.url });
    let err = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
    await until(() => /cursor=2\d\d/.test(err));
    child.kill(signal);
    const [ended] = (await once(child, 'close')) as [number | null];
    await slow.close();
    expect(ended).toBe(code);
    const [, said = ''] = /hint: ([\d,]+) leads were written; the output is incomplete/.exec(err) ?? [];
    const read = flags.length === 0 ? 'cat' : 'zcat';
    const held = ids(execFileSync(read, ['out'], { cwd: home, encoding: 'utf8' }));
    expect(Number(said)).toBeGreaterThan(100);
    expect(held).toEqual(slow.ids.slice(0, Number(said)));
  });
});
