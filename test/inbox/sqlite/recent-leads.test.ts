import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import Libsql from 'libsql';
import { describe, expect, it } from 'vitest';
import type { Arrival } from '../../../src/inbox/inbox.ts';
import { openInbox } from '../../../src/inbox/open-inbox.ts';
import { recentBodies, recentLeads } from '../../../src/inbox/sqlite/recent-leads.ts';
import { arrivalOf } from '../../support/both-sides.ts';
import { FakeClock } from '../../support/clock.ts';
import { freshHome } from '../../support/run.ts';

const arrivals = (from: number, count: number): Arrival[] =>
  Array.from({ length: count }, (_, i) => {
    const id = `lead_${from + i}`;
    const size = [10, 600, 3000, 4060, 5000, 20_000][(from + i) % 6] ?? 0;
    return arrivalOf(id, Buffer.from(JSON.stringify({ id, ä: 'x'.repeat(size) })), 1000 + from + i);
  });

/** A copy without any connection, as a killed receiver leaves it. */
function copied(location: string, ends: readonly string[] = ['', '-wal', '-shm']): string {
  const copy = join(freshHome(), 'inbox.db');
  for (const end of ends) if (existsSync(location + end)) copyFileSync(location + end, copy + end);
  return copy;
}

/** Names, times and bytes of the file and what is beside it. */
const filesBeside = (path: string): unknown[] =>
  readdirSync(dirname(path))
    .sort()
    .map((name) => [
      name,
      statSync(join(dirname(path), name)).mtimeMs,
      readFileSync(join(dirname(path), name)),
    ]);

const texts = (bodies: readonly Uint8Array[]): string[] =>
  bodies.map((bytes) => Buffer.from(bytes).toString());

describe('the newest leads of an inbox', () => {
  it('are those that were stored last, from its log and its file, at every moment', async () => {
    const location = join(freshHome(), 'inbox.db');
    const inbox = await openInbox({ location, clock: new FakeClock(0) });
    for (const [from, count] of [
      [0, 1],
      [1, 3],
      [4, 400],
      [404, 2],
    ] as const) {
      await inbox.take(arrivals(from, count));
      const last = Array.from(
        { length: Math.min(50, from + count) },
        (_, i) => `lead_${from + count - 1 - i}`,
      );
      for (const path of [location, copied(location)]) {
        expect((await recentLeads(path, 50)).map(({ leadId }) => leadId)).toEqual(last);
        const bodies = texts(await recentBodies(path, 50));
        expect(bodies.map((body) => (JSON.parse(body) as { id: string }).id)).toEqual(last);
      }
    }
    await inbox.close();
    const closed = copied(location);
    expect(await recentLeads(closed, 2)).toEqual([
      { leadId: 'lead_405', receivedAt: 1405 },
      { leadId: 'lead_404', receivedAt: 1404 },
    ]);
  });

  it('are each named once, and of several in one body each has its own', async () => {
    const location = join(freshHome(), 'inbox.db');
    const inbox = await openInbox({ location, clock: new FakeClock(0) });
    await inbox.take([arrivalOf('lead_\0', Buffer.from('{"id":"lead_\\u0000"}'), 1)]);
    const body = Buffer.from('[{"id":"a"},{"id":"b"}]');
    const { delivery } = arrivalOf('a', body, 2);
    await inbox.take([
      { delivery, leadId: 'a', place: { start: 1, end: 11 } },
      { delivery, leadId: 'b', place: { start: 12, end: 22 } },
    ]);
    await inbox.take([arrivalOf('a', Buffer.from('{"id":"a"}'), 3)]);
    expect(await recentLeads(location, 10)).toEqual([
      { leadId: 'a', receivedAt: 3 },
      { leadId: 'b', receivedAt: 2 },
      { leadId: 'lead_\0', receivedAt: 1 },
    ]);
    expect(texts(await recentBodies(location, 3))).toEqual(['{"id":"a"}', '{"id":"b"}', '{"id":"a"}']);
    await inbox.close();
  });

  it('are read while somebody writes, without waiting, and not while all of it is locked', async () => {
    const location = join(freshHome(), 'inbox.db');
    const inbox = await openInbox({ location, clock: new FakeClock(0) });
    await inbox.take(arrivals(0, 1));
    await inbox.close();
    const [written, locked] = [copied(location), copied(location)];
    const writer = new Libsql(written);
    writer.exec('BEGIN IMMEDIATE; UPDATE counter SET seq = seq + 1');
    expect(await recentLeads(written, 1)).toEqual([{ leadId: 'lead_0', receivedAt: 1000 }]);
    writer.close();
    const owner = new Libsql(locked);
    owner.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; UPDATE counter SET seq = seq + 1');
    const startedAt = performance.now();
    await expect(recentLeads(locked, 1)).rejects.toThrow();
    expect(performance.now() - startedAt).toBeLessThan(1000);
    owner.close();
  });

  it.each([
    { left: 'nothing', ends: [''] },
    { left: 'a log', ends: ['', '-wal'] },
    { left: 'a log with its index', ends: ['', '-wal', '-shm'] },
  ])('change no file where a receiver that was killed left $left beside it', async ({ ends }) => {
    const location = join(freshHome(), 'inbox.db');
    const inbox = await openInbox({ location, clock: new FakeClock(0) });
    await inbox.take(arrivals(0, 3));
    const copy = copied(location, ends);
    await inbox.close();
    const before = filesBeside(copy);
    await recentLeads(copy, 10).catch((error: unknown) => expect(error).toBeInstanceOf(Error));
    expect(filesBeside(copy)).toEqual(before);
  });

  it('of a damaged file end, with an error or with what is there', async () => {
    const location = join(freshHome(), 'inbox.db');
    const inbox = await openInbox({ location, clock: new FakeClock(0) });
    await inbox.take(arrivals(0, 60));
    const whole = readFileSync(copied(location));
    const log = readFileSync(`${location}-wal`);
    await inbox.close();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 200 }),
        fc.array(fc.tuple(fc.nat(log.length - 1), fc.nat(255)), { maxLength: 3 }),
        fc.boolean(),
        async (changes, logChanges, isFileAlone) => {
          const copy = join(freshHome(), 'inbox.db');
          writeFileSync(copy, changed(whole, changes));
          writeFileSync(`${copy}-wal`, isFileAlone ? '' : changed(log, logChanges));
          try {
            expect((await recentBodies(copy, 1000)).length).toBeLessThanOrEqual(1000);
          } catch (error) {
            expect(error).toBeInstanceOf(Error);
          }
          rmSync(dirname(copy), { recursive: true });
        },
      ),
      { numRuns: 100 },
    );
  });
});

function changed(bytes: Buffer, changes: readonly (readonly [number, number])[]): Buffer {
  const copy = Buffer.from(bytes);
  for (const [at, byte] of changes) copy[at] = byte;
  return copy;
}
