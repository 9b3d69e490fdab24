import { expect } from 'vitest';
import { openInbox } from '../../../src/inbox/open-inbox.ts';
import { locationOf } from '../../inbox/postgres/location.ts';
import { systemClock } from '../../../src/time/clock.ts';
import type { AdminProcess } from '../admin-process.ts';
import type { FleetInbox } from './fleet.ts';

export const verdictOf = ({ text }: { readonly text: string }): string =>
  (JSON.parse(text) as { status: string }).status;

/** As a sender that tries for a minute. */
export async function untilTaken(receiver: AdminProcess, lead: { readonly id: string }): Promise<string> {
  const since = performance.now();
  while (performance.now() - since < 60_000) {
    const answer = await receiver.deliver(lead);
    if (answer.status === 200) return verdictOf(answer);
    expect(answer.status).toBe(503);
    await systemClock.sleep(20);
  }
  throw new Error(`${lead.id} was refused for a minute`);
}

const idsIn = (lines: string): string[] =>
  lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { id: string }).id);

/** The ids that receivers printed, each a line with a lead. */
export const printed = (receivers: readonly AdminProcess[]): string[] =>
  receivers.flatMap((one) => idsIn(one.stdout()));

/** How often each lead is among the deliveries of an inbox. */
export async function deliveriesOf({ url }: FleetInbox): Promise<Map<string, number>> {
  const store = await openInbox({ location: locationOf(url), clock: systemClock });
  const times = new Map<string, number>();
  for await (const { leadId = '' } of store.list({})) times.set(leadId, (times.get(leadId) ?? 0) + 1);
  await store.close();
  return times;
}
