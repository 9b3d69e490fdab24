import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { authorityOf, type ListenProcess, listenProcess } from '../support/listen-process.ts';
import { mountedDisk } from '../support/mounted-disk.ts';
import { freshHome } from '../support/run.ts';
import { type Answered, senderTo } from '../support/sender.ts';
import { storedIds } from '../support/stored-ids.ts';

const token = 'token-of-the-tests';
function deliverer(listener: ListenProcess): (id: string) => Promise<Answered> {
  const sender = senderTo(listener.url, { token, authority: authorityOf(listener.home) });
  onTestFinished(() => sender.close());
  return (id) => sender.deliver({ id, metadata: { padding: 'x'.repeat(20_000) } });
}

/** Delivers until there is no room, makes room, delivers the same leads again, and looks what is there. */
async function fillAndRecover(listener: ListenProcess, place: string, makeRoom: () => void): Promise<void> {
  const deliver = deliverer(listener);
  const acknowledged: string[] = [];
  let refused: Answered | undefined;
  for (let i = 0; refused === undefined && i < 2000; i += 1) {
    const told = await deliver(`lead-${i}`);
    if (told.status === 200) acknowledged.push(`lead-${i}`);
    else refused = told;
  }
  expect(refused?.status).toBe(503);
  expect(JSON.parse(refused?.text ?? '')).toMatchObject({ error: 'cannot_store' });
  expect(acknowledged.length).toBeGreaterThan(10);
  const failed = `lead-${acknowledged.length}`;
  expect((await deliver(failed)).status).toBe(503);
  makeRoom();
  expect(await deliver(failed)).toMatchObject({
    status: 200,
    text: `{"status":"accepted","id":"${failed}"}`,
  });
  expect(await deliver(acknowledged[0] ?? '')).toMatchObject({ status: 200 });
  expect(await listener.end('SIGINT')).toBe(0);
  const stored = await storedIds(place);
  const lost = [...acknowledged, failed].filter((id) => !stored.includes(id));
  console.log(
    `promise 17, no room: ${acknowledged.length} acknowledged, then 503, then 200 again; lost ${lost.length} ` +
      `(${/cannot (?:store|write)[^\n(]*/.exec(listener.stdout())?.[0] ?? ''})`,
  );
  expect(lost).toEqual([]);
}

describe('promise 17: an inbox without room', () => {
  it('a full disk is answered 503 and nothing acknowledged is lost', async ({ skip }) => {
    const directory = mountedDisk('4m');
    if (directory === undefined) return skip('mounting is not allowed here');
    const filler = join(directory, 'filler');
    writeFileSync(filler, Buffer.alloc(2_000_000));
    const place = join(directory, 'inbox.db');
    const listener = await listenProcess(['--token', token, '--port', '0', '--inbox', place]);
    await fillAndRecover(listener, place, () => rmSync(filler));
  });

  it('a write error is answered 503 and nothing acknowledged is lost', async ({ skip }) => {
    if (spawnSync('prlimit', ['--version']).status !== 0) return skip('there is no prlimit here');
    const home = freshHome();
    const place = join(home, 'inbox.db');
    const listener = await listenProcess(['--token', token, '--port', '0', '--inbox', place], {
      home,
      through: ['prlimit', '--fsize=2000000:unlimited'],
    });
    const pid = String(listener.child.pid);
    await fillAndRecover(listener, place, () =>
      execFileSync('prlimit', ['--pid', pid, '--fsize=unlimited:unlimited']),
    );
  });
});

describe('promise 17: an inbox file that leaves its place under load', () => {
  it.each([
    ['deleted', (path: string) => rmSync(path)],
    ['moved', (path: string) => renameSync(path, `${path}.moved`)],
    [
      'replaced',
      (path: string) => {
        copyFileSync(path, `${path}.copy`);
        renameSync(`${path}.copy`, path);
      },
    ],
  ])('is %s: nothing is acknowledged from then on', async (what, happens) => {
    const home = freshHome();
    const place = join(home, 'inbox.db');
    const listener = await listenProcess(['--token', token, '--port', '0', '--inbox', place], { home });
    const deliver = deliverer(listener);
    let isGone = false;
    const before: number[] = [];
    const after: number[] = [];
    const senders = Array.from({ length: 8 }, async (_, sender) => {
      for (let i = 0; after.length < 80; i += 1) {
        const statuses = isGone ? after : before;
        statuses.push((await deliver(`lead-${sender}-${i}`)).status);
        if (before.length !== 200) continue;
        happens(place);
        isGone = true;
      }
    });
    await Promise.all(senders);
    const count = (statuses: readonly number[], status: number): number =>
      statuses.filter((one) => one === status).length;
    console.log(
      `promise 17, ${what}: ${count(before, 200)} acknowledged before, ${count(after, 200)} after, ${count(after, 503)} × 503`,
    );
    expect(new Set(before)).toContain(200);
    expect(new Set(after)).toEqual(new Set([503]));
    expect(listener.stderr()).toContain('503 until this receiver is restarted');
    await listener.end('SIGTERM');
  });
});
