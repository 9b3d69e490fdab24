import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { openInbox } from '../../src/inbox/open-inbox.ts';
import { systemClock } from '../../src/time/clock.ts';
import { arrivalOf, freshFile } from '../inbox/support.ts';

it('inbox recover says that the new file could not be written, and leaves nothing of it', async () => {
  const from = freshFile('inbox.db');
  const before = await openInbox({ location: from, clock: systemClock });
  await before.take(Array.from({ length: 1000 }, (_, i) => arrivalOf({ id: `lead-${i}` })));
  await before.close();
  const to = freshFile('new.db');
  // No file may be larger, in blocks: the system says it as it says that a disk is full, by an error of the write.
  const limited = ['-c', 'ulimit -f 100 && exec "$0" "$@"', process.execPath, 'bin/leads.js'];
  const run = spawnSync('bash', [...limited, 'inbox', 'recover', '--inbox', from, '-o', to], {
    encoding: 'utf8',
  });
  expect([run.status, run.stderr]).toEqual([8, expect.stringContaining(`cannot store in the inbox ${to}`)]);
  expect(readdirSync(dirname(to))).toEqual([]);
});
