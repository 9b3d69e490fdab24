import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { describeSelf, isAlive, lock } from '../../src/files/lock.ts';
import { FakeClock } from '../support/clock.ts';

const never = new AbortController().signal;
const me = () => ({ pid: process.pid, clock: new FakeClock(undefined, { hasty: true }), signal: never });
const target = () => join(mkdtempSync(join(tmpdir(), 'leads-lock-')), 'file.ndjson');
const heldBy = (path: string, holder: object) =>
  writeFileSync(`${path}.lock`, JSON.stringify({ token: 'x', ...holder }));

describe('lock', () => {
  it('rejects a second holder with the pid of the first, and is free after release', async () => {
    const path = target();
    const first = await lock(path, me());
    await expect(lock(path, me())).rejects.toMatchObject({
      problem: { kind: 'file-in-use', path, pid: process.pid, host: undefined },
    });
    await first.release();
    expect(existsSync(`${path}.lock`)).toBe(false);
    await (await lock(path, me())).release();
  });

  it('rejects while another thread of this process holds it', async () => {
    const path = target();
    const { started } = await describeSelf(process.pid);
    heldBy(path, { pid: process.pid, host: hostname(), started, thread: threadId + 1 });
    await expect(lock(path, me())).rejects.toMatchObject({ problem: { kind: 'file-in-use' } });
  });

  it('rejects while the holder lives, and is taken over at once after it was killed', async () => {
    const path = target();
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000); console.log(1)']);
    await once(child.stdout, 'data');
    heldBy(path, { pid: child.pid, host: hostname(), started: null });
    await expect(lock(path, me())).rejects.toMatchObject({ code: 'output' });
    child.kill('SIGKILL');
    await once(child, 'exit');
    await (await lock(path, me())).release();
  });

  it.skipIf(!existsSync('/proc/self/stat'))('is taken over from a holder that nobody reaped', async () => {
    const path = target();
    const parent = spawn('sh', ['-c', 'sleep 0.5 & echo $!; exec sleep 60']);
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(line.toString());
    const stat = (): string[] => readFileSync(`/proc/${pid}/stat`, 'latin1').split(' ');
    await expect.poll(() => stat()[2]).toBe('Z');
    heldBy(path, { pid, host: hostname(), started: stat()[21] ?? null });
    await (await lock(path, me())).release();
    parent.kill('SIGKILL');
  });

  it.each([
    ['a later process has the same pid', { pid: process.ppid, host: hostname(), started: '1' }],
    ['this process has the same pid', { pid: process.pid, host: hostname(), started: null }],
    [
      'another container was started again with this name',
      { pid: process.pid, host: hostname(), started: '1', pidNamespace: 'pid:[1]', thread: threadId },
    ],
    ['the file is torn', { pid: 'x' }],
  ])('is taken over when %s', async (_, holder) => {
    const path = target();
    heldBy(path, holder);
    await (await lock(path, me())).release();
  });

  it('is taken over although another process was killed while it took it over', async () => {
    const path = target();
    heldBy(path, { pid: process.ppid, host: hostname(), started: '1' });
    const guard = `${path}.lock.takeover`;
    writeFileSync(guard, JSON.stringify({ pid: 0, host: hostname(), started: null, token: 'y' }));
    await (await lock(path, me())).release();
    expect(existsSync(guard)).toBe(false);
  });

  it('removes what killed processes left while they took it, and nothing else', async () => {
    const path = target();
    const me = { pid: process.ppid, host: hostname(), started: null };
    const draft = (hex: string, content: string): string => {
      const file = `${path}.lock.${hex}`;
      writeFileSync(file, content);
      return file;
    };
    const holder = (more: object): string => JSON.stringify({ ...me, token: 't', ...more });
    const left = [
      draft('0123456789ab', holder({ started: '1' })),
      draft('0123456789ac', holder({ pid: process.pid })),
      draft('0123456789ad', '{"pid"'),
      draft('0123456789b0', ''),
      draft('takeover', holder({ started: '1' })),
    ];
    const kept = [
      draft('0123456789ae', holder({})),
      draft('0123456789af', holder({ host: 'elsewhere.example' })),
      draft('0123456789b2', holder({ pid: process.pid, host: 'elsewhere.example' })),
      draft('0123456789b1.gz', ''),
    ];
    const held = await lock(path, { pid: process.pid, clock: new FakeClock(), signal: never });
    expect([...left, ...kept].filter(existsSync)).toEqual(kept);
    await held.release();
  });

  it.each([1, process.pid])('is not taken over from another machine (pid %i)', async (pid) => {
    const path = target();
    heldBy(path, { pid, host: 'elsewhere.example', started: null });
    await expect(lock(path, me())).rejects.toMatchObject({
      problem: { kind: 'file-in-use', pid, host: 'elsewhere.example', file: `${path}.lock` },
    });
  });

  it('waits for a holder that releases it', async () => {
    const path = target();
    const clock = new FakeClock();
    const first = await lock(path, me());
    const second = lock(path, { ...me(), clock }, { waitMs: 1000 });
    await expect.poll(() => clock.sleeps.length).toBe(1);
    await first.release();
    clock.advance(25);
    await (await second).release();
  });

  it('has one holder at a time when many processes find a dead one', async () => {
    const path = target();
    heldBy(path, { pid: 0, host: hostname(), started: null });
    let inside = 0;
    const seen: number[] = [];
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        const held = await lock(path, me(), { waitMs: 60_000 });
        inside += 1;
        seen.push(inside);
        await new Promise(setImmediate);
        inside -= 1;
        await held.release();
      }),
    );
    expect(seen).toEqual(Array.from({ length: 20 }, () => 1));
  });
});

describe('isAlive', () => {
  const holderOf = (pid: number) => ({ pid, host: hostname(), started: '1', token: 'x' });

  it.each(['EACCES', 'EPERM', 'ENOENT'])('holds of a process whose start is hidden: %s', async (code) => {
    const hidden = () => Promise.reject(Object.assign(new Error(code), { code, syscall: 'open' }));
    expect(await isAlive(holderOf(process.ppid), process.pid, hidden)).toBe(true);
    expect(await isAlive(holderOf(2 ** 31 - 1), process.pid, hidden)).toBe(false);
  });

  it('does not hold of a zombie, and of another process with the same number', async () => {
    const stat = (state: string, started: string) => () =>
      Promise.resolve(`1 (a) ${state} ${'0 '.repeat(18)}${started} 0`);
    expect(await isAlive(holderOf(process.ppid), process.pid, stat('S', '1'))).toBe(true);
    expect(await isAlive(holderOf(process.ppid), process.pid, stat('S', '2'))).toBe(false);
    expect(await isAlive(holderOf(process.ppid), process.pid, stat('Z', '1'))).toBe(false);
  });
});
