import { copyFileSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import Libsql from 'libsql';
import { describe, expect, it } from 'vitest';
import type { Arrival } from '../../../src/inbox/inbox.ts';
import { openInbox } from '../../../src/inbox/open-inbox.ts';
import { bytesOf, type Row } from '../../../src/inbox/sqlite/libsql.ts';
import { type DatabasePages, readPages } from '../../../src/inbox/sqlite/pages/database-pages.ts';
import { newestRows, rowAt } from '../../../src/inbox/sqlite/pages/table-rows.ts';
import { recentBodies, recentLeads } from '../../../src/inbox/sqlite/recent-leads.ts';
import { arrivalOf } from '../../support/both-sides.ts';
import { FakeClock } from '../../support/clock.ts';
import { freshHome } from '../../support/run.ts';

/** Deliveries of many sizes: some share a page, some need a chain of them. */
const arrivals = (from: number, count: number): Arrival[] =>
  Array.from({ length: count }, (_, i) => {
    const id = `lead_${from + i}`;
    const size = [10, 600, 3000, 4060, 5000, 20_000][(from + i) % 6] ?? 0;
    return arrivalOf(id, Buffer.from(JSON.stringify({ id, ä: 'x'.repeat(size) })), 1000 + from + i);
  });

/** A copy without any connection, of the file and its log. */
function copied(location: string): string {
  const copy = join(freshHome(), 'inbox.db');
  for (const end of ['', '-wal']) {
    try {
      copyFileSync(location + end, copy + end);
    } catch (error) {
      expect(error).toMatchObject({ code: 'ENOENT' });
    }
  }
  return copy;
}

/** With the body as text, which is compared quickly. */
const comparable = (row: Row): Row => ({
  ...row,
  body: Buffer.from(bytesOf(row['body'])).toString('latin1'),
});

const deliveries = (pages: DatabasePages): Row[] => [...newestRows(pages, 'deliveries')].map(comparable);

/** The same as the database reads it. */
function asRead(path: string): Row[] {
  const database = new Libsql(path);
  const rows = database.prepare('SELECT * FROM deliveries ORDER BY seq DESC').all() as Row[];
  database.close();
  return rows.map(comparable);
}

describe('the pages of an inbox', () => {
  it('give what the database reads, from its log and its file, at every moment', async () => {
    const location = join(freshHome(), 'inbox.db');
    const inbox = await openInbox({ location, clock: new FakeClock(0) });
    for (const [from, count] of [
      [0, 1],
      [1, 3],
      [4, 400],
      [404, 2],
    ] as const) {
      await inbox.take(arrivals(from, count));
      const copy = copied(location);
      const found = readPages(copy, deliveries);
      expect(found).toHaveLength(from + count);
      expect(found).toEqual(asRead(copy));
    }
    await inbox.prune(1200);
    const copy = copied(location);
    expect(readPages(copy, deliveries)).toEqual(asRead(copy));
    await inbox.close();
    const closed = copied(location);
    const found = readPages(closed, deliveries);
    expect(found).toEqual(asRead(closed));
    expect(readPages(closed, (pages) => rowAt(pages, 'deliveries', 300)?.['lead'])).toEqual(
      found.find((row) => row['seq'] === 300)?.['lead'],
    );
    expect(readPages(closed, (pages) => rowAt(pages, 'deliveries', 5))).toBeUndefined();
  });

  it('give the newest leads while somebody has the whole database locked, and of several in one body each its own', async () => {
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
    await inbox.close();
    const locked = copied(location);
    const database = new Libsql(locked);
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    expect(recentLeads(locked, 10)).toEqual([
      { leadId: 'a', receivedAt: 3 },
      { leadId: 'b', receivedAt: 2 },
      { leadId: 'lead_\0', receivedAt: 1 },
    ]);
    expect(recentBodies(locked, 3).map((bytes) => Buffer.from(bytes).toString())).toEqual([
      '{"id":"a"}',
      '{"id":"b"}',
      '{"id":"a"}',
    ]);
    database.close();
  });

  it('are read anew where the log was brought into the file meanwhile, and not for ever', async () => {
    const location = join(freshHome(), 'inbox.db');
    const inbox = await openInbox({ location, clock: new FakeClock(0) });
    await inbox.take(arrivals(0, 1));
    const copy = copied(location);
    await inbox.close();
    let writes = 0;
    const readWhileWritten = (times: number): number =>
      readPages(copy, (pages) => {
        if (writes < times) utimesSync(copy, 1, (writes += 1));
        return deliveries(pages).length;
      });
    expect(readWhileWritten(3)).toBe(1);
    expect(writes).toBe(3);
    expect(() => readWhileWritten(1000)).toThrow('written to all the time');
    expect(writes).toBeLessThan(20);
  });

  it('of a damaged file end, with an error or with what is there', async () => {
    const location = join(freshHome(), 'inbox.db');
    const inbox = await openInbox({ location, clock: new FakeClock(0) });
    await inbox.take(arrivals(0, 60));
    const copy = copied(location);
    await inbox.close();
    const whole = readFileSync(location);
    const log = readFileSync(`${copy}-wal`);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 200 }),
        fc.array(fc.tuple(fc.nat(log.length - 1), fc.nat(255)), { maxLength: 3 }),
        fc.boolean(),
        (changes, logChanges, isFileAlone) => {
          writeFileSync(copy, changed(whole, changes));
          writeFileSync(`${copy}-wal`, isFileAlone ? '' : changed(log, logChanges));
          try {
            expect(recentBodies(copy, 1000).length).toBeLessThanOrEqual(1000);
          } catch (error) {
            expect(error).toBeInstanceOf(Error);
          }
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
