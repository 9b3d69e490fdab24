import { spawnSync } from 'node:child_process';
import { statfsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openInbox } from '../../../src/inbox/open-inbox.ts';
import { loadLibsql } from '../../../src/inbox/sqlite/libsql.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { deliveryOf, freshDirectory } from '../../inbox/support.ts';
import { leads } from '../../support/run.ts';

it('gives room back in small steps, on a full disk and while a receiver has the inbox open', async ({
  skip,
}) => {
  const directory = freshDirectory();
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', directory]).status !== 0) {
    return skip('mounting is not allowed here');
  }
  onTestFinished(() => void spawnSync('umount', ['-l', directory]));
  const path = join(directory, 'inbox.db');
  const receiver = await openInbox({ location: path, clock: systemClock });
  onTestFinished(() => receiver.close());
  for (let i = 0; i < 60; i += 1) {
    const delivery = deliveryOf(`{"id":"lead-${i}","filler":"${'x'.repeat(100_000)}"}`, { receivedAt: i });
    await receiver.take([{ leadId: `lead-${i}`, delivery }]);
  }
  const Libsql = await loadLibsql();
  const other = new Libsql(path, { timeout: 1000 });
  other.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all([]);
  other.close();
  const sizeBefore = statSync(path).size;
  const { bavail, bsize } = statfsSync(directory);
  writeFileSync(join(directory, 'filler'), Buffer.alloc(bavail * bsize - 2_000_000));
  const run = await leads(['inbox', 'prune', '--before', new Date(50).toISOString(), '--inbox', path]);
  expect(run).toMatchObject({
    exitCode: 0,
    stderr: '50 deliveries dropped; the ids of their leads stay known\n',
  });
  expect(statSync(path).size).toBeLessThan(sizeBefore / 4);
  await receiver.checkWritable();
});
