import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { descriptorsOn } from '../support/descriptors.ts';
import { full, printFigure } from '../support/faults.ts';
import { filesIn, temporaryIn } from '../support/files-in.ts';
import { type FaultyService, type Style, faultyService, seeded } from '../support/faulty-service.ts';
import { inParallel } from '../support/in-parallel.ts';
import { binary, startProgram } from '../support/listen-process.ts';
import { mountedDisk } from '../support/mounted-disk.ts';
import { freshHome, leads } from '../support/run.ts';

const forms = [[], ['--gzip'], ['--format', 'csv'], ['--format', 'json'], ['--fields', 'id,contact.name']];
const styles: readonly Style[] = ['cursor', 'page', 'offset', 'link'];
const services = new Map<Style, FaultyService>();
/** Slow enough to be met in the middle. */
let slow: FaultyService;
/** More than fits into a small file system, packed as well. */
let large: FaultyService;

beforeAll(async () => {
  slow = await faultyService({ leads: 3000, pageSize: 100, style: 'cursor', seed: 1, latencyMs: 30 });
  large = await faultyService({ leads: 6000, pageSize: 500, style: 'cursor', seed: 1 });
  const leads = full ? 6000 : 2000;
  for (const style of styles) {
    services.set(style, await faultyService({ leads, pageSize: leads / 20, style, seed: 1, latencyMs: 40 }));
  }
});
afterAll(async () => {
  for (const service of [slow, large, ...services.values()]) await service.close();
});

const urlOf = (style: Style): string => services.get(style)?.url ?? '';
const envFor = (url: string): Record<string, string> => ({
  LEADS_BASE_URL: url,
  LEADS_API_KEY: 'key-0123456789',
});

/** Runs the real program; `after` is when it gets the signal, in milliseconds, if it still runs. */
async function run(
  argv: readonly string[],
  url: string,
  stop?: { signal: NodeJS.Signals; after: number },
  home = freshHome(),
): Promise<{ exitCode: number | null; stderr: string }> {
  const program = startProgram(argv, home, { ...envFor(url), ...temporaryIn(home) });
  if (stop !== undefined) {
    await Promise.race([pause(stop.after), program.done]);
    program.child.kill(stop.signal);
  }
  const { exitCode } = await program.done;
  return { exitCode, stderr: program.stderr() };
}

describe('promise 10: an export killed anywhere resumes', () => {
  it('to the same bytes', async () => {
    // Each is killed twice on average.
    const kills = full ? 100 : 6;
    const random = seeded(9);
    const whole = new Map<string, { bytes: Buffer; took: number }>();
    for (const [i, form] of forms.entries()) {
      const style = styles[i % styles.length] ?? 'cursor';
      const file = join(freshHome(), 'whole');
      const begun = Date.now();
      expect(await run(['export', '-o', file, ...form], urlOf(style))).toMatchObject({ exitCode: 0 });
      whole.set(form.join(' '), { bytes: readFileSync(file), took: Date.now() - begun });
    }
    let [same, hit, resumed] = [0, 0, 0];
    const one = async (i: number): Promise<void> => {
      const form = forms[i % forms.length] ?? [];
      const style = styles[(i % forms.length) % styles.length] ?? 'cursor';
      const { bytes, took } = whole.get(form.join(' ')) ?? { bytes: Buffer.alloc(0), took: 0 };
      const home = freshHome();
      const file = join(home, 'out');
      const argv = ['export', '-o', file, '--resume', ...form];
      mkdirSync(temporaryIn(home).TMPDIR);
      // Two of three attempts are killed again.
      for (let attempt = 0; attempt < 1 + (i % 3); attempt += 1) {
        await run(argv, urlOf(style), { signal: 'SIGKILL', after: random() * took }, home);
        if (!existsSync(file)) hit += 1;
        if (existsSync(`${file}.checkpoint`)) resumed += 1;
      }
      const last = await run(argv, urlOf(style), undefined, home);
      if (last.exitCode === 0 && readFileSync(file).equals(bytes)) same += 1;
      // A kill while the lock is taken leaves its draft, which nothing reads.
      const isDraft = (name: string): boolean => /^out\.lock\.[0-9a-f]{12}$/.test(name);
      expect(filesIn(home).filter((name) => !isDraft(name))).toEqual(['out', 'tmp']);
    };
    const numbers = Array.from({ length: kills }, (_, i) => i);
    await inParallel(numbers, 4, one);
    printFigure(
      10,
      `${kills} exports killed at random moments (${hit} kills hit, ${resumed} left a checkpoint), resumed: the same bytes ${same} of ${kills}`,
    );
    expect(same).toBe(kills);
    expect(hit).toBeGreaterThan(kills / 2);
    expect(resumed).toBeGreaterThan(0);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s ends it with %i and says how to go on', async (signal, code) => {
    const file = join(freshHome(), 'out');
    const program = startProgram(['export', '-o', file], freshHome(), envFor(slow.url));
    await expect.poll(() => checkpointBytes(file), { timeout: 10_000 }).toBeGreaterThan(0);
    program.child.kill(signal);
    expect(await program.done).toEqual({ exitCode: code });
    expect(program.stderr()).toContain('--resume');
    expect(program.stderr()).not.toContain(' at ');
    expect(existsSync(file)).toBe(false);
    expect(await run(['export', '-o', file, '--resume'], slow.url)).toMatchObject({ exitCode: 0 });
    expect(idsIn(readFileSync(file, 'utf8'))).toEqual(slow.ids);
  });

  it('a second export onto the same file is refused while the first one lives', async () => {
    const file = join(freshHome(), 'out');
    const first = startProgram(['export', '-o', file], freshHome(), envFor(slow.url));
    await expect.poll(() => existsSync(`${file}.lock`), { timeout: 10_000 }).toBe(true);
    const second = await run(['export', '-o', file], slow.url);
    expect(second.exitCode).toBe(8);
    expect(second.stderr).toContain(`process ${first.child.pid ?? 0}`);
    expect(await first.done).toEqual({ exitCode: 0 });
  });
});

describe('promise 10: every incomplete output exits non-zero', () => {
  const shell = async (line: string): Promise<{ code: number | null; stderr: string }> => {
    const child = spawn('bash', ['-c', line], {
      env: {
        PATH: process.env['PATH'],
        HOME: freshHome(),
        LEADS: `${process.execPath} ${binary}`,
        ...envFor(urlOf('cursor')),
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, stderr };
  };

  /** In this process, which meets the same files. */
  const exported = (argv: readonly string[]) => leads(['export', ...argv], { env: envFor(large.url) });

  it('a full device', async () => {
    // A stream and a packed one: what is packed or not does not differ by its format.
    const streamed = full ? forms : forms.slice(0, 2);
    await inParallel(streamed, 2, async (form) => {
      const line = `$LEADS export ${form.join(' ')} > /dev/full`;
      const { code, stderr } = await shell(line);
      expect({ line, code }).toEqual({ line, code: 8 });
      expect(stderr).toContain('no space left on the device');
    });
    for (const form of forms) {
      const { exitCode, stderr } = await exported([...form, '-o', '/dev/full']);
      expect({ form, exitCode }).toEqual({ form, exitCode: 8 });
      expect(stderr).toContain('no space left on the device');
      expect(descriptorsOn('/dev/full')).toBe(0);
    }
    const count = streamed.length + forms.length;
    printFigure(10, `/dev/full: exit 8 in ${count} of ${count} forms`);
  });

  it('a reader that goes away', async () => {
    const { code, stderr } = await shell('$LEADS export | head -1; exit ${PIPESTATUS[0]}');
    expect({ code, stderr }).toEqual({ code: 141, stderr: '' });
  });

  it('a file system that fills up, and goes on when there is room', async ({ skip }) => {
    const place = mountedDisk('64k');
    if (place === undefined) return skip('mounting is not allowed here');
    for (const form of forms) {
      const file = join(place, `out${form.join('')}`);
      const cut = await exported(['-o', file, ...form]);
      expect({ form, exitCode: cut.exitCode }).toEqual({ form, exitCode: 8 });
      expect(existsSync(file)).toBe(false);
      execFileSync('mount', ['-o', 'remount,size=64m', place]);
      const after = await exported(['-o', file, '--resume', ...form]);
      expect({ form, after: after.exitCode, said: after.stderr }).toMatchObject({ form, after: 0 });
      execFileSync('bash', ['-c', `rm -f ${place}/*`]);
      execFileSync('mount', ['-o', 'remount,size=64k', place]);
    }
    printFigure(10, `64 KB file system: exit 8, then resumed, in ${forms.length} of ${forms.length} forms`);
  });
});

function checkpointBytes(file: string): number {
  if (!existsSync(`${file}.checkpoint`)) return 0;
  return (JSON.parse(readFileSync(`${file}.checkpoint`, 'utf8')) as { bytes: number }).bytes;
}

const idsIn = (text: string): string[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { id: string }).id);
