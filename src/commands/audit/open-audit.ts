import { Audit } from '../../audit/audit.ts';
import { unlistedClasses } from '../../audit/classify-lead.ts';
import { StatusField } from '../../audit/compare-payloads.ts';
import type { Context } from '../../context.ts';
import { noteText } from '../../errors.ts';
import type { InboxReader } from '../../inbox/inbox.ts';
import { locationText, openInbox, openInboxReader } from '../../inbox/open-inbox.ts';
import type { StoreOptions } from '../../inbox/store-options.ts';
import type { LeadFilter } from '../../lead/filter.ts';
import type { IdField } from '../../lead/find-leads.ts';
import { type LeadAt, possibleLeads, readLead } from '../../lead/read-leads.ts';
import { type Progress, showProgress } from '../../output/terminal/progress.ts';
import { openService, type Service } from '../../service/client/service.ts';
import { statusFieldsOf } from '../../service/pagers/names.ts';
import { requestParamsOf } from '../../service/pagers/request-params.ts';
import { pointInTime } from '../flags/flag-values.ts';
import { unprovenHandler } from '../flags/polling.ts';
import { resolveFilter } from '../flags/resolve-filter.ts';
import { resolveInbox } from '../flags/resolve-inbox.ts';
import { leadPlaceOf } from '../flags/delivery-flags.ts';
import { rejectMissing } from '../inbox/with-inbox.ts';
import { openOnceThere } from '../flags/wait-for-database.ts';
import type { AuditCommandOptions } from './command.ts';
import type { OpenedReceived } from './received-file.ts';
import type { ComparedSides } from './repair.ts';

export interface OpenedAudit extends ComparedSides {
  readonly audit: Audit;
  readonly received: OpenedReceived;
  readonly filter: LeadFilter;
  readonly progress: Progress;
  close(): Promise<void>;
}

/** Opens the service and what was received, which is an inbox, or a file of an application. */
export async function openAudit(options: AuditCommandOptions, context: Context): Promise<OpenedAudit> {
  const { clock, messages, status } = context;
  const startedAt = clock.now();
  const service = await openService(context);
  const usualSince = options.in === undefined ? pointInTime.parse('7d') : undefined;
  const filterOptions = { ...options, since: options.since ?? usualSince };
  const { query, filter } = resolveFilter(filterOptions, startedAt, messages);
  const received = await openReceived(options, context);
  const statusNames = statusFieldsOf(service.dialect);
  const filtersByStatus =
    query.status !== undefined || filter.where.some(({ path }) => statusNames.includes(path.join('.')));
  const progress = showProgress(status, clock);
  const audit = new Audit({
    service,
    received,
    // A lead whose category was changed since is listed under another one: all are asked for, and filtered here.
    query: { ...query, categories: undefined },
    filter,
    // Received leads have no status, nor can they be judged by the URL's own filters: whether they belong in the list is unknown.
    undecidable: [
      ...(filtersByStatus || urlFiltersList(service) ? unlistedClasses : []),
      ...received.undecidable,
    ],
    times: {
      startedAt,
      // Leads that were created after the received ones were written down cannot be among them.
      settledBefore: Math.min(startedAt, received.writtenAt ?? startedAt) - options.settle,
      lateAfterMs: options.lateAfter,
    },
    comparison: {
      statusField: new StatusField(statusNames),
      idNames: ['id', service.dialect.id ?? 'id', (await context.settings()).webhookId],
      ignored: options.ignore,
    },
    acceptUnproven: unprovenHandler(options.acceptIncomplete, messages),
    onProgress: (compared, total) => progress.update(compared, total),
  });
  return {
    audit,
    received,
    filter,
    progress,
    baseUrl: service.account.baseUrl,
    async close() {
      progress.clear();
      await audit.close();
      await received.close();
    },
  };
}

function urlFiltersList({ account, dialect }: Pick<Service, 'account' | 'dialect'>): boolean {
  const { url, status, category, since, until } = requestParamsOf(account.baseUrl, dialect);
  const filterParams = [status, category, since, until];
  return filterParams.some((name) => name !== undefined && url.searchParams.has(name));
}

/** Throws a `ConfigError` where nothing was ever received: everything would be missing. */
async function openReceived(options: AuditCommandOptions, context: Context): Promise<OpenedReceived> {
  if (options.received !== undefined) {
    const { openReceivedFile } = await import('./received-file.ts');
    return openReceivedFile(options.received, options.leadAt ?? 'auto', context);
  }
  const settings = await context.settings();
  const location = await resolveInbox(options, settings, context);
  rejectMissing(
    location,
    "'leads listen' makes it; name another one with --inbox FILE, or an export of your application with --received FILE",
  );
  const { clock, messages } = context;
  const open = async (warn: StoreOptions['warn']) => {
    const store = options.takeIn ? await openInbox({ location, clock, warn }) : undefined;
    const inbox = store ?? (await openInboxReader({ location, clock }));
    return { store, inbox, close: () => inbox.close() };
  };
  // Only a watch waits for a database that is started later.
  const { store, inbox, close } =
    options.watch === undefined
      ? await open((warning) => messages.warn(noteText(warning)))
      : await openOnceThere(location, open, context);
  return {
    name: `the inbox ${locationText(location)}`,
    leads: inbox,
    store,
    undecidable: [],
    hasTimes: true,
    rejections: () => rejectionsIn(inbox, leadPlaceOf(settings, options.leadAt)),
    close,
  };
}

interface LeadsInBodies {
  readonly leadAt: LeadAt;
  readonly idField: IdField;
}

/** Reasons of the rejected deliveries that the inbox keeps, by the ids of their leads; the newest reason counts. */
async function rejectionsIn(
  inbox: Pick<InboxReader, 'list'>,
  place: LeadsInBodies,
): Promise<ReadonlyMap<string, string>> {
  const reasons = new Map<string, string>();
  for await (const { leadId, body, reason = 'rejected' } of inbox.list({ verdicts: ['rejected'] })) {
    for (const id of leadId === undefined ? idsInBody(body, place) : [leadId]) {
      if (!reasons.has(id)) reasons.set(id, reason);
    }
  }
  return reasons;
}

/** The body may be a forgery. The inbox keeps only the start of a long one, which is no JSON and gives no id. */
function idsInBody(body: Uint8Array, { leadAt, idField }: LeadsInBodies): readonly string[] {
  return possibleLeads(body, leadAt, idField).flatMap((lead) => {
    const read = readLead(lead, idField);
    return read.ok ? (read.lead.id ?? []) : [];
  });
}
