import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Arrival, AttemptRecord, StoredRef } from '../../src/inbox/inbox.ts';
import type { Delivery } from '../../src/webhook/delivery.ts';

export const freshDirectory = (): string => mkdtempSync(join(tmpdir(), 'leads-inbox-'));

/** A path in a directory of its own; no file is there. */
export const freshFile = (name: string): string => join(freshDirectory(), name);

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

/** The arrivals of one delivery whose body holds these leads, as they are written here, between `head` and `tail`. */
export function arrivalsTogether(
  leads: readonly string[],
  {
    head = '[',
    separator = ',',
    tail = ']',
    ...more
  }: Partial<Delivery> & Partial<Record<'head' | 'separator' | 'tail', string>> = {},
): Arrival[] {
  const body = `${head}${leads.join(separator)}${tail}`;
  const delivery = deliveryOf(body, more);
  let from = 0;
  return leads.map((lead) => {
    const start = Buffer.byteLength(body.slice(0, body.indexOf(lead, from)));
    from = body.indexOf(lead, from) + lead.length;
    const { id } = JSON.parse(lead) as { readonly id: string };
    return { delivery, leadId: id, place: { start, end: start + Buffer.byteLength(lead) } };
  });
}

/** A target has had the lead. */
export const doneAt = ({ leadId, seq }: StoredRef, target: string): AttemptRecord => ({
  ...{ leadId, seq, target, claim: 0 },
  outcome: 'done',
});

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

/** For what a test knows to be there. */
export function never(): never {
  throw new Error('it is not there');
}
