import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type * as promises from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { afterPowerLoss } from './kernel/database-images.ts';
import { Disk } from './kernel/disk.ts';
import { filesOn } from './kernel/file-calls.ts';
import { randomOf } from './kernel/random.ts';
import { Scheduler } from './kernel/scheduler.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'simulation-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A process with files on a disk of its own. */
function machine(seed: number, failure: (call: string) => string | undefined = () => undefined) {
  const scheduler = new Scheduler(0);
  const disk = new Disk(folder, scheduler, randomOf(seed, 'disk'), { delay: () => 1, failure });
  mkdirSync(disk.real('/sim/d'));
  const process = { isAlive: true };
  const files = filesOn(disk, process, () => undefined).promised as unknown as typeof promises;
  const during = async (work: Promise<unknown>): Promise<void> => {
    const state = { isDone: false };
    const settled = work.finally(() => (state.isDone = true));
    settled.catch(() => undefined);
    await scheduler.runUntil(10_000, () => state.isDone);
    if (state.isDone) await settled;
  };
  return { disk, process, files, during };
}

async function writeLines(files: typeof promises): Promise<void> {
  const file = await files.open('/sim/d/lines', 'a');
  await file.writeFile('synced\n');
  await file.datasync();
  const directory = await files.open('/sim/d', 'r');
  await directory.sync();
  await file.writeFile('unsynced\n');
  await file.close();
  await files.rename('/sim/d/lines', '/sim/d/renamed');
}

const contentIn = (disk: Disk): string | undefined => {
  for (const name of ['lines', 'renamed']) {
    try {
      return `${name}: ${readFileSync(disk.real(`/sim/d/${name}`), 'latin1')}`;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return undefined;
};

test('a kill loses nothing that was written', async () => {
  const { disk, process, files, during } = machine(1);
  await during(writeLines(files));
  process.isAlive = false;
  disk.release(process);
  expect(contentIn(disk)).toBe('renamed: synced\nunsynced\n');
});

test('a power loss keeps what was synced, some of the rest, and the same for the same seed', async () => {
  const left = async (seed: number): Promise<string> => {
    const { disk, files, during } = machine(seed);
    await during(writeLines(files));
    disk.powerLoss();
    return contentIn(disk) ?? 'nothing';
  };
  const found = new Set<string>();
  for (let seed = 0; seed < 24; seed += 1) found.add(await left(seed));
  for (const content of found) expect(content).toMatch(/^(?:lines|renamed): synced\n/);
  expect([...found].some((content) => content.startsWith('lines'))).toBe(true);
  expect([...found].some((content) => content.startsWith('renamed'))).toBe(true);
  expect([...found].some((content) => content.endsWith('unsynced\n'))).toBe(true);
  expect([...found].some((content) => !content.includes('unsynced'))).toBe(true);
  expect(await left(7)).toBe(await left(7));
});

test('what a failed sync may have lost is not durable by the next one', async () => {
  const left = async (seed: number): Promise<string> => {
    let isFirst = true;
    const { disk, files, during } = machine(seed, (call) => {
      if (call !== 'fdatasync' || !isFirst) return undefined;
      isFirst = false;
      return 'EIO';
    });
    await during(
      (async () => {
        const file = await files.open('/sim/d/lines', 'a');
        await (await files.open('/sim/d', 'r')).sync();
        await file.writeFile('line\n');
        await expect(file.datasync()).rejects.toThrow('EIO');
        await file.datasync();
      })(),
    );
    disk.powerLoss();
    return contentIn(disk) ?? 'nothing';
  };
  const found = await Promise.all(Array.from({ length: 12 }, (_, seed) => left(seed)));
  expect(new Set(found)).toEqual(new Set(['lines: line\n', 'lines: ']));
});

test('the calls of a dead process never settle, and touch nothing', async () => {
  const { disk, process, files, during } = machine(1);
  await during(writeLines(files));
  const file = files.open('/sim/d/late', 'w');
  process.isAlive = false;
  await during(file);
  await during(files.unlink('/sim/d/renamed'));
  expect(contentIn(disk)).toBe('renamed: synced\nunsynced\n');
  expect(disk.touchedByDead).toBe(0);
});

test('a power loss leaves what is written again as it was or as it was written, and zeros only where a file grew', async () => {
  const seen = new Set<string>();
  for (let seed = 1; seed <= 100; seed += 1) {
    const { disk, files, during } = machine(seed);
    await during(
      (async () => {
        const file = await files.open('/sim/d/lines', 'a');
        await file.writeFile('before\nbehind\n');
        await file.datasync();
        await file.close();
        await (await files.open('/sim/d', 'r')).sync();
        const again = await files.open('/sim/d/lines', 'r+');
        await again.write('BEFORE\n', 0);
        await again.write('grown\n', 14);
        await again.close();
      })(),
    );
    disk.powerLoss();
    seen.add(readFileSync(disk.real('/sim/d/lines'), 'latin1'));
    rmSync(disk.root, { recursive: true });
  }
  const ends = ['', '\0\0\0\0\0\0', 'grown\n'];
  expect([...seen].sort()).toEqual(
    ['BEFORE', 'before'].flatMap((first) => ends.map((end) => `${first}\nbehind\n${end}`)),
  );
});

test('a power loss in a COMMIT leaves the database as it was, and frames of the log in any mixture', () => {
  const log = (fill: number): Buffer => {
    const bytes = Buffer.alloc(32 + 3 * 4120, fill);
    bytes.writeUInt32BE(4096, 8);
    return bytes;
  };
  const before = { database: Buffer.alloc(8192, 1), log: log(1) };
  const after = { database: before.database, log: log(2) };
  const copied = { database: Buffer.alloc(8192, 2), log: after.log };
  const logs = new Set<string>();
  for (let seed = 0; seed < 40; seed += 1) {
    const left = afterPowerLoss(before, after, randomOf(seed, 'power'));
    expect(left.database.equals(before.database)).toBe(true);
    logs.add(left.log.toString('latin1'));
    const mixed = afterPowerLoss(before, copied, randomOf(seed, 'power'));
    // A database is only written once its log is synced.
    if (!mixed.database.equals(before.database)) expect(mixed.log.equals(after.log)).toBe(true);
  }
  expect(logs.size).toBeGreaterThan(10);
});
