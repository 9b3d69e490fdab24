import type { Context } from '../../../context.ts';
import { ConfigError } from '../../../errors.ts';
import { isInboxThere, locationText, openInboxReader } from '../../../inbox/open-inbox.ts';
import { leadFilter } from '../../../lead/filter.ts';
import { readLead } from '../../../lead/read-lead.ts';
import { openService } from '../../../service/client/service.ts';
import { listLeads } from '../../../service/listing/listing.ts';
import { unprovenHandler } from '../../flags/accept-incomplete-flag.ts';
import { noteFilters } from '../../flags/filter-notes.ts';
import { resolveFilter } from '../../flags/resolve-filter.ts';
import { resolveInbox } from '../../flags/inbox/resolve-inbox.ts';
import type { SendOptions } from '../options.ts';
import type { LeadSource, SourceLead } from './source-lead.ts';

const batchSize = 64;

/** `--from service`: every lead that matches, in the order and the bytes of the service. */
export async function* leadsOfService(options: SendOptions, context: Context): LeadSource {
  const { clock, messages } = context;
  const service = await openService(context);
  const { query, filter } = resolveFilter(options, clock.now(), messages);
  const matcher = leadFilter(filter);
  const acceptUnproven = unprovenHandler(options.acceptIncomplete, messages);
  for await (const { leads } of listLeads(service, { query, prefetch: true, acceptUnproven })) {
    const matching = leads.filter(matcher.matches);
    if (matching.length > 0) yield matching.map(({ id, bytes }) => ({ leadId: id, body: bytes }));
  }
  noteFilters(matcher, messages);
}

/** `--from inbox`: every lead that matches as it was received, in order of arrival. */
export async function* leadsOfInbox(options: SendOptions, context: Context): LeadSource {
  const { clock, messages } = context;
  const { filter } = resolveFilter(options, clock.now(), messages);
  const matcher = leadFilter(filter);
  const location = await resolveInbox(options, await context.settings(), context);
  if (!isInboxThere(location)) {
    throw new ConfigError(`nothing was received yet: there is no inbox at ${locationText(location)}`);
  }
  const inbox = await openInboxReader({ location, clock });
  try {
    let batch: SourceLead[] = [];
    for await (const { leadId, body } of inbox.leads({ states: ['accepted', 'pending'] })) {
      const read = readLead(body);
      if (read.ok && !matcher.matches(read.lead)) continue;
      batch.push({ leadId, body });
      if (batch.length < batchSize) continue;
      yield batch;
      batch = [];
    }
    yield batch;
  } finally {
    await inbox.close();
  }
  noteFilters(matcher, messages);
}
