import { closeSync, openSync, writeSync } from 'node:fs';
import Libsql from 'libsql';
import { openInbox } from '../../../src/inbox/open-inbox.ts';
import { systemClock } from '../../../src/time/clock.ts';
import type { Inbox } from '../../../src/inbox/inbox.ts';
import { arrivalOf, deliveryOf, freshFile, ledgerOf } from '../support.ts';

interface Page {
  readonly pageno: number;
}

/**
 * An inbox with a thousand leads, one page of which is overwritten: a leaf of this table, by its position. `isFull`: each
 * lead is outstanding for a target and has a nonce, some were given back, and some share the body of a delivery. `also`: a
 * table whose first leaf is overwritten as well. `target`: of a full one.
 */
export async function damagedInbox(
  table: string,
  position: number,
  isFull = false,
  also?: string,
  target = 'forward http://a.test/',
): Promise<string> {
  const path = freshFile('inbox.db');
  const options = isFull ? { targets: [target], nonceLifetimeMs: 1000 } : {};
  const inbox = await openInbox({ location: path, clock: systemClock, ...options });
  await inbox.take(ids.map((id) => arrivalOf({ id }, isFull ? { nonce: `nonce of ${id}` } : {})));
  if (isFull) await fill(inbox, target);
  await ledgerOf(inbox).sequence();
  if (table === 'erased' || table === 'target_key')
    await inbox.erase({ leadIds: ids.slice(0, 1), rejected: [] });
  await inbox.close();
  const database = new Libsql(path);
  database.pragma('wal_checkpoint(TRUNCATE)');
  const leaf = (name: string, at: number): number => {
    const pages = database
      .prepare("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path")
      .all([name]) as Page[];
    const page = pages.at(at);
    if (page === undefined) throw new Error(`the table has ${pages.length} pages`);
    return page.pageno;
  };
  const overwritten = [leaf(table, position), ...(also === undefined ? [] : [leaf(also, 0)])];
  database.close();
  const file = openSync(path, 'r+');
  for (const page of overwritten) writeSync(file, Buffer.alloc(4096, 0xff), 0, 4096, (page - 1) * 4096);
  closeSync(file);
  return path;
}

/** The ids of the leads that share bodies, two in each. */
export const sharingIds = Array.from({ length: 400 }, (_, i) => `shared-${1000 + i}`);

async function fill(inbox: Inbox, target: string): Promise<void> {
  for (let i = 0; i < sharingIds.length; i += 2) {
    const own = sharingIds.slice(i, i + 2).map((id) => JSON.stringify({ id }));
    const delivery = deliveryOf(`[${own.join()}]`);
    const start = own[0]?.length ?? 0;
    const places = [
      { start: 1, end: 1 + start },
      { start: 2 + start, end: 2 + start + (own[1]?.length ?? 0) },
    ];
    await inbox.take(places.map((place, n) => ({ delivery, place, leadId: sharingIds[i + n] ?? '' })));
  }
  const result = { ok: false, answer: '503', durationMs: 1, at: 1 };
  await inbox.release(ids.map((leadId, i) => ({ leadId, seq: i + 1, target, result, retryAt: 1 })));
}

/** Of the leads in such an inbox. */
export const ids = Array.from({ length: 1000 }, (_, i) => `lead-${1000 + i}`);
