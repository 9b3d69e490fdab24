import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkLedger, type LedgerFindings } from '../../src/inbox/check-ledger.ts';
import type { Arrival, Inbox } from '../../src/inbox/inbox.ts';
import type { Ledger } from '../../src/inbox/ledger.ts';
import { type InboxLocation, openInbox } from '../../src/inbox/open-inbox.ts';
import { systemClock } from '../../src/time/clock.ts';
import type { Delivery } from '../../src/webhook/delivery.ts';

export const freshDirectory = (): string => mkdtempSync(join(tmpdir(), 'leads-inbox-'));

/** A path in a directory of its own; no file is there. */
export const freshFile = (name: string): string => join(freshDirectory(), name);

/** As the database throws it where its disk fails. */
export const diskError = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' });

export function deliveryOf(body: string | Uint8Array, more: Partial<Delivery> = {}): Delivery {
  return {
    method: 'POST',
    path: '/leads',
    url: 'https://localhost/leads',
    rawHeaders: [['Content-Type', 'application/json']],
    body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
    remote: '127.0.0.1',
    receivedAt: 1_000,
    ...more,
  };
}

export function arrivalOf(lead: { readonly id: string }, more: Partial<Arrival> = {}): Arrival {
  return { delivery: deliveryOf(JSON.stringify(lead)), leadId: lead.id, ...more };
}

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

export function ledgerOf({ ledger }: Inbox): Ledger {
  if (ledger === undefined) throw new Error('the store has no ledger');
  return ledger;
}

/** What is found in a ledger that agrees with the leads that it is of. */
export const unchangedLedger = { isHeadRight: true, altered: [], removed: 0, inserted: [] };

/** What is found in the ledger once every lead is entered. */
export async function sequencedLedger(inbox: Inbox): Promise<LedgerFindings> {
  const ledger = ledgerOf(inbox);
  await ledger.sequence();
  return checkLedger(inbox, ledger, 0);
}

/** The same while others store and enter leads. */
export async function growingLedger(location: InboxLocation): Promise<LedgerFindings> {
  const inbox = await openInbox({ location, clock: systemClock });
  const found = await checkLedger(inbox, ledgerOf(inbox), 0);
  await inbox.close();
  return found;
}
