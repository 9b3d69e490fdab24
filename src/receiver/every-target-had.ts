import type { Inbox } from '../inbox/inbox.ts';
import { type Clock, slept } from '../time/clock.ts';

/** Between two looks, in milliseconds. */
const lookEveryMs = 20;

/** Resolves when no lead waits for a target any more: each was delivered, or is dead. */
export async function everyTargetHad(
  leadIds: readonly string[],
  inbox: Pick<Inbox, 'forwards'>,
  clock: Pick<Clock, 'sleep'>,
  signal: AbortSignal,
): Promise<void> {
  for (const leadId of leadIds) {
    while (await isWaiting(leadId, inbox)) if (!(await slept(clock, lookEveryMs, signal))) return;
  }
}

const isWaiting = async (leadId: string, inbox: Pick<Inbox, 'forwards'>): Promise<boolean> =>
  (await inbox.forwards([leadId])).get(leadId)?.some(({ state }) => state === 'waiting') === true;
