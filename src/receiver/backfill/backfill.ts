import { messageOf } from '../../errors.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import { leadFilter } from '../../lead/filter.ts';
import type { RawLead } from '../../lead/raw-lead.ts';
import type { Messages } from '../../output/messages.ts';
import { noteUnreadableTimes } from '../../output/walk-summary.ts';
import type { Service } from '../../service/client/service.ts';
import { listLeads } from '../../service/listing/listing.ts';
import type { Clock } from '../../time/clock.ts';
import type { Receiver } from '../create-receiver.ts';
import { deliveryOfPulledLead } from './pulled-delivery.ts';

/** Leads that are handled at the same time: they share a transaction, and as many forwards may be in flight. */
const concurrency = 50;

interface BackfillOptions {
  readonly service: Service;
  readonly inbox: Pick<Inbox, 'has'>;
  readonly receiver: Pick<Receiver, 'handleChecked'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly messages: Messages;
  /** Ends the backfill early. */
  readonly signal: AbortSignal;
  readonly windowMs: number;
}

type LeadWithId = RawLead & { readonly id: string };

/**
 * Lists the service's leads of the last `windowMs` and has the receiver handle those that the inbox lacks, as if they
 * had been pushed. Never rejects: a failure is a warning and ends the backfill alone, not the receiver.
 */
export async function backfill(options: BackfillOptions): Promise<void> {
  const { inbox, receiver, clock, messages, windowMs } = options;
  const signal = AbortSignal.any([options.service.signal, options.signal]);
  const service = { ...options.service, signal };
  const since = clock.now() - windowMs;
  const window = leadFilter({ categories: [], since, until: undefined, where: [] });
  let known = 0;
  let fetched = 0;
  try {
    for await (const { leads } of listLeads(service, { query: { since } })) {
      if (signal.aborted) return;
      const candidates = leads.filter(
        (lead): lead is LeadWithId => lead.id !== undefined && window.matches(lead),
      );
      const missing = await missingIn(inbox, candidates);
      known += candidates.length - missing.length;
      fetched += missing.length;
      const { baseUrl } = service.account;
      const deliveries = missing.map((lead) => deliveryOfPulledLead(lead, baseUrl, clock.now()));
      while (deliveries.length > 0) {
        const some = deliveries.splice(0, concurrency);
        await Promise.all(some.map((checked) => receiver.handleChecked(checked, 'backfill')));
      }
    }
    noteUnreadableTimes(window.unreadableTimes, messages);
    messages.say(`backfill: ${fetched} fetched, ${known} already known`);
  } catch (error) {
    if (signal.aborted) return;
    messages.warn(`the backfill ended early: ${messageOf(error)}`);
  }
}

async function missingIn(inbox: Pick<Inbox, 'has'>, leads: readonly LeadWithId[]): Promise<LeadWithId[]> {
  const known = await inbox.has(leads.map((lead) => lead.id));
  return leads.filter((lead) => !known.has(lead.id));
}
