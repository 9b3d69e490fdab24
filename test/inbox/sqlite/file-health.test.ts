import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FileHealth } from '../../../src/inbox/sqlite/file-health.ts';
import { mountedDisk } from '../../support/mounted-disk.ts';
import { freshDirectory } from '../support.ts';

/** A link to an inbox at `place`, which has just said that it is full. */
function fullInbox(place: string): { readonly link: string; readonly health: FileHealth } {
  const link = join(freshDirectory(), 'inbox.db');
  writeFileSync(place, '');
  symlinkSync(place, link);
  const health = new FileHealth({ location: link, warn: () => undefined });
  health.noteFailure(Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' }));
  return { link, health };
}

it('looks for room beside the file of the inbox, and not beside a link to it', async () => {
  const { link, health } = fullInbox(join(freshDirectory(), 'inbox.db'));
  mkdirSync(`${link}.room`);
  await expect(health.checkRoom()).resolves.toBeUndefined();
});

it('finds no room where a link leads to a disk that is full', async ({ skip }) => {
  const disk = mountedDisk('1m');
  if (disk === undefined) return skip('mounting is not allowed here');
  const { health } = fullInbox(join(disk, 'inbox.db'));
  await expect(health.checkRoom()).rejects.toMatchObject({ code: 'SQLITE_FULL' });
});
