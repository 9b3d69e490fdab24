import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { printFigure } from '../support/faults.ts';
import { mountedDisk } from '../support/mounted-disk.ts';
import { freshHome, homeWith } from '../support/run.ts';
import { until } from '../support/until.ts';
import { type AdminProcess, adminProcess } from './admin-process.ts';

const clean: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of clean.splice(0).reverse()) await step();
});

async function start(argv: readonly string[], home = freshHome()): Promise<AdminProcess> {
  const listener = await adminProcess(argv, { home });
  clean.push(() => listener.end('SIGKILL'));
  return listener;
}

describe('/readyz of a real receiver', () => {
  it('says 503 with the reason while the disk is full, all the time, and 200 when there is room', async ({
    skip,
  }) => {
    const directory = mountedDisk('5m');
    if (directory === undefined) return skip('mounting is not allowed here');
    const filler = join(directory, 'filler');
    writeFileSync(filler, Buffer.alloc(2_500_000));
    const listener = await start(['--inbox', join(directory, 'inbox.db')]);
    expect(await listener.admin('/readyz')).toEqual({ status: 200, text: 'ready\n' });
    const metadata = { padding: 'x'.repeat(40_000) };
    let stored = 0;
    while ((await listener.deliver({ id: `lead-${stored}`, metadata })).status === 200) stored += 1;
    expect(stored).toBeGreaterThan(5);
    await until(async () => (await listener.admin('/readyz')).status === 503, '503');
    const since = performance.now();
    // Longer than an answer of the inbox is good for.
    while (performance.now() - since < 2500) {
      const { status, text } = await listener.admin('/readyz');
      expect([status, text]).toEqual([
        503,
        `not ready: cannot store in the inbox ${join(directory, 'inbox.db')}: no space left on the device\n`,
      ]);
    }
    expect(await listener.admin('/livez')).toMatchObject({ status: 200 });
    rmSync(filler);
    await until(async () => (await listener.admin('/readyz')).status === 200, '200, without a delivery');
    expect(await listener.deliver({ id: `lead-${stored}`, metadata })).toMatchObject({ status: 200 });
    printFigure(17, `readiness: ${stored} stored, then 503 until there was room, then 200`);
  });

  it('says 503 before the first delivery fails when something else filled the disk', async ({ skip }) => {
    const directory = mountedDisk('5m');
    if (directory === undefined) return skip('mounting is not allowed here');
    const inbox = join(directory, 'inbox.db');
    const listener = await start(['--inbox', inbox]);
    expect(await listener.admin('/readyz')).toMatchObject({ status: 200 });
    const filler = join(directory, 'filler');
    expect(() => writeFileSync(filler, Buffer.alloc(6_000_000))).toThrow('ENOSPC');
    await until(async () => (await listener.admin('/readyz')).status === 503, '503');
    expect((await listener.admin('/readyz')).text).toBe(
      `not ready: cannot store in the inbox ${inbox}: no space left on the device\n`,
    );
    rmSync(filler);
    await until(async () => (await listener.admin('/readyz')).status === 200, '200');
    expect(await listener.deliver({ id: 'a' })).toMatchObject({ status: 200 });
  });

  it('ends at once at the second signal, in the middle of the delay of its drain', async () => {
    const listener = await start([], homeWith({ listen: { 'drain-delay': '1h' } }));
    listener.child.kill('SIGTERM');
    await until(async () => (await listener.admin('/readyz')).status === 503, 'not ready');
    expect(await listener.deliver({ id: 'a' })).toMatchObject({ status: 200 });
    expect(await listener.end('SIGTERM')).toBe(143);
  });
});
