import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { openInboxReader } from '../../inbox/open-inbox.ts';
import { leadMatcher } from '../../lead/filter.ts';
import { readStoredLead } from '../../lead/read-leads.ts';
import { isTestId } from '../../lead/raw-lead.ts';
import { counted } from '../../output/terminal/progress.ts';
import { openService } from '../../service/client/service.ts';
import { listLeads } from '../../service/listing.ts';
import { unprovenHandler } from '../flags/polling.ts';
import { resolveFilter } from '../flags/shared-flags.ts';
import { noteFilters } from '../../output/walk-notes.ts';
import { rejectMissing, resolveInbox } from '../flags/resolve-inbox.ts';
import { findLeads } from '../show/find-leads.ts';
import type { SendOptions } from './command.ts';
import type { LeadSource } from '../../sender/sender.ts';

/**
 * `--id`. Throws as `findLeads` does, before anything is sent, and a `UsageError` for a test lead of the inbox that would go to
 * `otherMachine`.
 */
export async function* leadsById(
  options: SendOptions,
  otherMachine: string | undefined,
  context: Context,
): LeadSource {
  const { leads, fromInbox } = await findLeads(options.id, options, context);
  const test = fromInbox.find(isTestId);
  if (otherMachine !== undefined && test !== undefined) {
    throw new UsageError(`the test lead '${test}' would go to ${otherMachine}, which is another machine`, {
      hint: 'add --yes if somebody there expects test leads',
    });
  }
  for (const leadId of options.id) yield { leadId, body: leads.get(leadId) ?? Buffer.alloc(0) };
}

export async function* leadsOfService(options: SendOptions, context: Context): LeadSource {
  const { clock, messages } = context;
  const service = await openService(context);
  const { query, filter } = resolveFilter(options, clock.now(), messages);
  const matcher = leadMatcher(filter);
  const acceptUnproven = unprovenHandler(options.acceptIncomplete, messages);
  for await (const { leads } of listLeads(service, { query, prefetch: true, acceptUnproven })) {
    for (const lead of leads) if (matcher.matches(lead)) yield { leadId: lead.id, body: lead.bytes };
  }
  noteFilters(matcher, messages);
}

/**
 * `--from inbox`: every lead that matches as it was received, in order of arrival. No test lead goes to `otherMachine`.
 */
export async function* leadsOfInbox(
  options: SendOptions,
  otherMachine: string | undefined,
  context: Context,
): LeadSource {
  const { clock, messages } = context;
  const { filter } = resolveFilter(options, clock.now(), messages);
  const matcher = leadMatcher(filter);
  const location = await resolveInbox(options, await context.settings(), context);
  rejectMissing(location);
  const inbox = await openInboxReader({ location, clock });
  let leftOut = 0;
  try {
    for await (const { leadId, body } of inbox.leads({})) {
      const read = readStoredLead(body, leadId);
      if (read.ok && !matcher.matches(read.lead)) continue;
      if (otherMachine !== undefined && isTestId(leadId)) leftOut += 1;
      else yield { leadId, body };
    }
  } finally {
    await inbox.close();
  }
  if (leftOut > 0) {
    const leads = counted(leftOut, 'test lead is', 'test leads are');
    messages.note(
      'test',
      `${leads} left out: ${otherMachine ?? ''} is another machine; --yes sends them, too`,
    );
  }
  noteFilters(matcher, messages);
}
