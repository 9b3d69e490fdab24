import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { describe, expect, it, onTestFinished } from 'vitest';
import { lock } from '../../src/files/lock.ts';
import { FakeClock } from '../support/clock.ts';

const never = new AbortController().signal;
const me = () => ({ pid: process.pid, clock: new FakeClock(undefined, { hasty: true }), signal: never });
const target = () => join(mkdtempSync(join(tmpdir(), 'leads-lock-')), 'file.ndjson');
const heldBy = (path: string, holder: object) => writeFileSync(`${path}.lock`, JSON.stringify(holder));

describe('lock', () => {
  it('rejects a second holder with the pid of the first, and is free after release', async () => {
    const path = target();
    const first = await lock(path, me());
    await expect(lock(path, me())).rejects.toMatchObject({
      code: 'output',
      message: `${path} is in use by another leads (process ${process.pid})`,
      hint: `wait for it to end, or remove ${path}.lock if process ${process.pid} is another program`,
    });
    await first.release();
    expect(existsSync(`${path}.lock`)).toBe(false);
    await (await lock(path, me())).release();
  });

  it('rejects while another thread of this process holds it', async () => {
    const path = target();
    const code = "require('node:worker_threads').parentPort.postMessage(performance.timeOrigin)";
    const [started] = (await once(new Worker(code, { eval: true }), 'message')) as [number];
    heldBy(path, { pid: process.pid, host: hostname(), started });
    await expect(lock(path, me())).rejects.toThrow('is in use by another leads');
  });

  it('rejects while the holder lives, and is taken over at once after it was killed', async () => {
    const path = target();
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000); console.log(1)']);
    await once(child.stdout, 'data');
    heldBy(path, { pid: child.pid, host: hostname(), started: 1 });
    await expect(lock(path, me())).rejects.toMatchObject({ code: 'output' });
    child.kill('SIGKILL');
    await once(child, 'exit');
    await (await lock(path, me())).release();
  });

  it.runIf(process.platform === 'linux')(
    'is taken over from a process that was killed and whose parent has not noticed',
    async () => {
      const path = target();
      // The shell becomes a program that never waits for the child that it started before.
      const script = 'sleep 60 & echo $!; exec tail -f /dev/null';
      const parent = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] });
      onTestFinished(() => void parent.kill('SIGKILL'));
      const [pid] = (await once(parent.stdout, 'data')) as [Buffer];
      heldBy(path, { pid: Number(pid), host: hostname(), started: 1 });
      await expect(lock(path, me())).rejects.toMatchObject({ code: 'output' });
      process.kill(Number(pid), 'SIGKILL');
      const takenOver = () =>
        lock(path, me())
          .then((held) => held.release())
          .then(() => 'free', String);
      await expect.poll(takenOver).toBe('free');
    },
  );

  it.each([
    ['this process has the same pid', { pid: process.pid, host: hostname(), started: 1 }],
    ['the file is torn', { pid: 'x' }],
  ])('is taken over when %s', async (_, holder) => {
    const path = target();
    heldBy(path, holder);
    await (await lock(path, me())).release();
  });

  it('is taken over although another process was killed while it took it over', async () => {
    const path = target();
    heldBy(path, { pid: 0, host: hostname(), started: 1 });
    const guard = `${path}.lock.takeover`;
    writeFileSync(guard, JSON.stringify({ pid: 0, host: hostname(), started: 1 }));
    await (await lock(path, me())).release();
    expect(existsSync(guard)).toBe(false);
  });

  it('is not taken over while another process takes it over', async () => {
    const path = target();
    heldBy(path, { pid: 0, host: hostname(), started: 1 });
    const guard = `${path}.lock.takeover`;
    writeFileSync(guard, JSON.stringify({ pid: process.ppid, host: hostname(), started: 1 }));
    await expect(lock(path, me())).rejects.toThrow(`(process ${process.ppid})`);
    expect(existsSync(`${path}.lock`)).toBe(true);
  });

  it.each([1, process.pid])('is not taken over from another machine (pid %i)', async (pid) => {
    const path = target();
    heldBy(path, { pid, host: 'elsewhere.example', started: 1 });
    await expect(lock(path, me())).rejects.toMatchObject({
      message: `${path} is in use by another leads (process ${pid} on elsewhere.example)`,
      hint: `if that machine no longer runs it, remove ${path}.lock`,
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
    heldBy(path, { pid: 0, host: hostname(), started: 1 });
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
