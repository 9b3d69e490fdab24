import { messageOf } from '../errors.ts';
import type { Context } from '../context.ts';
import type { Inbox } from '../inbox/inbox.ts';
import { leadFilter } from '../lead/filter.ts';
import type { RawLead } from '../lead/raw-lead.ts';
import { listLeads } from '../service/listing/listing.ts';
import type { Service } from '../service/client/service.ts';
import type { CheckedDelivery } from '../webhook/check-delivery.ts';
import type { DeliveryHandler } from './delivery-handler.ts';

/** Leads that share a transaction; as many may be forwarded at a time. */
const atOnce = 50;

interface BackfillOptions {
  readonly service: Service;
  readonly inbox: Inbox;
  readonly desk: DeliveryHandler;
  readonly clock: Context['clock'];
  readonly messages: Context['messages'];
  /** Ends it before its time. */
  readonly stop: AbortSignal;
  readonly windowMs: number;
}

/**
 * Lists the service's leads of the last `windowMs` and takes in what the inbox lacks, through the same steps as a pushed
 * lead. What goes wrong is said and ends the backfill alone: the receiver goes on.
 */
export async function backfill(options: BackfillOptions): Promise<void> {
  const { inbox, desk, clock, messages, stop, windowMs } = options;
  const signal = AbortSignal.any([options.service.signal, stop]);
  const service = { ...options.service, signal };
  const since = clock.now() - windowMs;
  const matches = leadFilter({ categories: [], since, until: undefined, where: [] });
  let known = 0;
  let fetched = 0;
  try {
    for await (const { leads } of listLeads(service, { query: { since } })) {
      if (signal.aborted) return;
      const wanted = leads.filter((lead) => lead.id !== undefined && matches(lead));
      const lacking = await missing(wanted, inbox);
      known += wanted.length - lacking.length;
      fetched += lacking.length;
      const whole = lacking.map((lead) => examined(lead, service, clock.now()));
      while (whole.length > 0) {
        await Promise.all(whole.splice(0, atOnce).map((one) => desk.takeIn(one, 'backfill')));
      }
    }
    messages.say(`backfill: ${fetched} fetched, ${known} known already`);
  } catch (error) {
    if (signal.aborted) return;
    messages.warn(`the backfill ended early: ${messageOf(error)}`);
  }
}

async function missing(leads: readonly RawLead[], inbox: Inbox): Promise<RawLead[]> {
  const known = await inbox.has(leads.map((lead) => lead.id ?? ''));
  return leads.filter((lead) => !known.has(lead.id ?? ''));
}

/** A lead of the list as if it had been delivered, so that it can be forwarded like any other. */
function examined(lead: RawLead, { account }: Service, now: number): CheckedDelivery {
  const { baseUrl } = account;
  const leadId = lead.id ?? '';
  // Its bytes are a part of a page's, and the page's memory is used again.
  const bytes = Buffer.from(lead.bytes);
  return {
    kind: 'lead',
    delivery: {
      method: 'GET',
      path: baseUrl.pathname,
      url: baseUrl.href,
      rawHeaders: [['content-type', 'application/json']],
      body: bytes,
      remote: baseUrl.host,
      receivedAt: now,
    },
    lead: { bytes, id: leadId, createdAt: lead.createdAt, category: lead.category },
    leadId,
    key: -1,
    warnings: [],
  };
}
