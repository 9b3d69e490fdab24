import { spawnSync } from 'node:child_process';
import { statfsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openInbox } from '../../../src/inbox/open-inbox.ts';
import { loadLibsql } from '../../../src/inbox/sqlite/libsql.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { deliveryOf, freshDirectory } from '../../inbox/support.ts';
import { leads } from '../../support/run.ts';

it('says that the file is as large as before where it does not fit twice, and leaves the disk as it was', async ({
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
  const { bavail, bsize } = statfsSync(directory);
  writeFileSync(join(directory, 'filler'), Buffer.alloc(bavail * bsize - 2_000_000));
  const run = await leads(['inbox', 'prune', '--before', new Date(10).toISOString(), '--inbox', path]);
  expect(run).toMatchObject({
    exitCode: 0,
    stderr: expect.stringMatching(/10 deliveries dropped.*could not be rewritten: no space left/s) as unknown,
  });
  expect(statSync(`${path}-wal`).size).toBe(0);
  await receiver.checkWritable();
});
