import { closeSync, openSync, writeSync } from 'node:fs';
import Libsql from 'libsql';
import { openInbox } from '../../../src/inbox/open-inbox.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { arrivalOf, freshFile } from '../support.ts';

interface Page {
  readonly pageno: number;
}

/** Of the leads in such an inbox. */
export const ids = Array.from({ length: 1000 }, (_, i) => `lead-${1000 + i}`);

/**
 * An inbox with a thousand leads, one page of which is overwritten: a leaf of this table, by its position. `targets`: each
 * lead is outstanding for them.
 */
export async function damagedInbox(
  table: string,
  position: number,
  targets: readonly string[] = [],
): Promise<string> {
  const path = freshFile('inbox.db');
  const inbox = await openInbox({ location: path, clock: systemClock, targets });
  await inbox.take(ids.map((id) => arrivalOf({ id })));
  await inbox.close();
  const database = new Libsql(path);
  database.pragma('wal_checkpoint(TRUNCATE)');
  const pages = database
    .prepare("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path")
    .all([table]) as Page[];
  database.close();
  const page = pages.at(position);
  if (page === undefined) throw new Error(`the table has ${pages.length} pages`);
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(4096, 0xff), 0, 4096, (page.pageno - 1) * 4096);
  closeSync(file);
  return path;
}
