import { copyFileSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { openInboxReader } from '../../../src/inbox/open-inbox.ts';
import { clock, open, takeOne } from '../stores.ts';
import { all, arrivalOf, freshFile } from '../support.ts';

/** Made by the version before: seven deliveries, with targets under clear-text names that hold credentials. */
const fixture = fileURLToPath(new URL('inbox-of-version-1.db', import.meta.url));
const forward = 'forward http://hook-user:hook-password@127.0.0.1:45678/hook?key=hook-key';
const exec = 'exec grep -q kept-by-exec # exec-password';

function copied(): string {
  const path = freshFile('inbox.db');
  copyFileSync(fixture, path);
  return path;
}

it('names targets by key, and leaves no byte of the clear text in the file', async () => {
  const path = copied();
  expect(readFileSync(path).includes('hook-password')).toBe(true);
  const inbox = await open(path, { targets: [forward, exec] });
  await takeOne(inbox, arrivalOf({ id: 'new' }));
  await inbox.close();
  for (const file of [path, `${path}-wal`]) {
    const bytes = readFileSync(file);
    for (const secret of ['hook-user', 'hook-password', 'hook-key', 'kept-by-exec #', 'exec-password']) {
      expect(bytes.includes(secret), `${secret} in ${file}`).toBe(false);
    }
  }
});

it('forwards nothing again, whatever credentials the URL has now', async () => {
  const inbox = await open(copied(), { targets: ['forward http://127.0.0.1:45678/hook?key=hook-key'] });
  const repeat = (id: string) => takeOne(inbox, arrivalOf({ id }));
  expect(await repeat('forwarded')).toMatchObject({ kind: 'duplicate', attempt: 2 });
  expect(await repeat('outstanding')).toMatchObject({ kind: 'pending', attempt: 4 });
  expect(await inbox.outstanding()).toEqual([
    { target: 'exec', leads: 1, unscheduled: 1, dead: 0, wanted: false, wantedElsewhere: false },
    {
      target: 'forward http://127.0.0.1:45678',
      leads: 1,
      unscheduled: 0,
      dead: 0,
      wanted: true,
      wantedElsewhere: false,
    },
  ]);
});

it('keeps every delivery', async () => {
  const path = copied();
  const reader = await openInboxReader({ location: path, clock });
  const before = await all(reader.list({}));
  await reader.close();
  expect(before).toHaveLength(7);
  const inbox = await open(path);
  expect(await all(inbox.list({}))).toEqual(before);
  expect(await inbox.has(['forwarded', 'executed', 'outstanding', 'not-executed'])).toEqual(
    new Set(['forwarded', 'executed']),
  );
});

it('can be read without bringing it up to date', async () => {
  const path = copied();
  const reader = await openInboxReader({ location: path, clock });
  const pending = await all(reader.list({ verdicts: ['pending'] }));
  expect(pending.map(({ leadId, attempt }) => [leadId, attempt])).toEqual([
    ['not-executed', 1],
    ['outstanding', 3],
  ]);
  expect(await reader.outstanding()).toMatchObject([
    { target: 'exec' },
    { target: 'forward http://127.0.0.1:45678' },
  ]);
  await reader.close();
  expect(readFileSync(path).equals(readFileSync(fixture))).toBe(true);
});
