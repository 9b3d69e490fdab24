import { Audit } from '../../audit/audit.ts';
import { unlistedClasses } from '../../audit/classify-lead.ts';
import { StatusField } from '../../audit/compare-payloads.ts';
import type { Context } from '../../context.ts';
import type { LeadFilter } from '../../lead/filter.ts';
import type { Messages } from '../../output/messages.ts';
import { counted, type Progress, showProgress } from '../../output/terminal/progress.ts';
import { openService, type Service } from '../../service/client/service.ts';
import { statusFieldsOf } from '../../service/listing/page-census.ts';
import { requestParamsOf } from '../../service/pagination/request-params.ts';
import { formatSeconds } from '../../time/time-text.ts';
import { unprovenHandler } from '../flags/polling.ts';
import { resolveFilter } from '../flags/resolve-filter.ts';
import type { AuditCommandOptions } from './options.ts';
import type { OpenedReceived } from './received-file.ts';
import { describeWarning } from '../../messages/command-line.ts';
import { rejectionsIn } from '../../audit/compare-leads.ts';
import { ConfigError } from '../../errors.ts';
import { isInboxThere, locationText, openInbox, openInboxReader } from '../../inbox/open-inbox.ts';
import { leadPlaceOf } from '../flags/lead-at.ts';
import { resolveInbox } from '../flags/resolve-inbox.ts';

/** An audit that is ready to run, and what it compares. */
export interface OpenedAudit {
  readonly audit: Audit;
  readonly received: OpenedReceived;
  /** With the times that the flags mean now. */
  readonly filter: LeadFilter;
  readonly progress: Progress;
  /** Of the service. */
  readonly baseUrl: URL;
  close(): Promise<void>;
}

export async function openAudit(options: AuditCommandOptions, context: Context): Promise<OpenedAudit> {
  const { clock, messages, status } = context;
  const startedAt = clock.now();
  const service = await openService(context);
  const { query, filter } = resolveFilter(options, startedAt, messages);
  const received = await openReceived(options, context);
  const statusNames = statusFieldsOf(service.dialect);
  const showsOnlySome =
    narrowsByPath(service) ||
    query.status !== undefined ||
    filter.where.some(({ path }) => statusNames.includes(path.join('.')));
  const progress = showProgress(status, clock);
  const audit = new Audit({
    service,
    received,
    // A lead whose category was changed since is listed under another one: all are asked for, and filtered here.
    query: { ...query, categories: undefined },
    filter,
    // Only the service's list shows the status: what it does not list may be there under another one.
    undecidable: [...(showsOnlySome ? unlistedClasses : []), ...received.undecidable],
    times: {
      startedAt,
      // What was created after the received leads were written down cannot be among them.
      settledBefore: Math.min(startedAt, received.writtenAt ?? startedAt) - options.settle,
      lateAfterMs: options.lateAfter,
    },
    comparison: {
      statusField: new StatusField(statusNames),
      idNames: ['id', service.dialect.id ?? 'id', (await context.settings()).webhookId],
      ignored: options.ignore,
      isStrict: options.strict,
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

/** Whether the path's own query filters the list: received leads cannot be judged by it. */
function narrowsByPath({ account, dialect }: Pick<Service, 'account' | 'dialect'>): boolean {
  const { url, status, category, since, until } = requestParamsOf(account.baseUrl, dialect);
  return [status, category, since, until].some((name) => name !== undefined && url.searchParams.has(name));
}

/** Says what the counts of a whole audit alone would hide. */
export function noteCounts(
  {
    listed,
    counts,
    clockAheadMs,
    disprovenAheadMs,
  }: Pick<Audit, 'listed' | 'counts' | 'clockAheadMs' | 'disprovenAheadMs'>,
  { name }: Pick<OpenedReceived, 'name'>,
  messages: Pick<Messages, 'note' | 'warn'>,
): void {
  const { pulled, received, withoutId, notCompared, notJudged, horizon } = counts;
  if (clockAheadMs !== 0) {
    const difference = `${formatSeconds(Math.abs(clockAheadMs))} ${clockAheadMs > 0 ? 'behind' : 'ahead of'}`;
    messages.note(
      'clock',
      `this machine's clock is ${difference} the service's, which decides here how old a lead is`,
    );
  }
  if (disprovenAheadMs !== 0) {
    messages.note(
      'clock',
      `the service's 'Date' is ${formatSeconds(-disprovenAheadMs)} behind this machine's clock and older than leads that it lists: this machine's clock decides here how old a lead is`,
    );
  }
  if (listed === 0) {
    messages.warn('the service lists no lead: whether one is missing, or too many, cannot be told');
  } else if (pulled === 0 && withoutId === 0) {
    messages.note('none-pulled', 'no lead of the service matches');
  } else if (pulled > 0 && received === 0) {
    messages.note('none-received', `${name} has none of these leads`);
  }
  if (listed > 0 && horizon === undefined) {
    messages.note(
      'no-horizon',
      "no lead of the list says in 'createdAt' when it was created: whether others were received that it no longer shows cannot be told",
    );
  }
  if (withoutId > 0) {
    const records = counted(withoutId, 'record of the service has', 'records of the service have');
    const help = pulled === 0 ? ': leads config set api.id FIELD names another field' : '';
    messages.warn(
      `${records} no usable id, so nothing can be said about ${withoutId === 1 ? 'it' : 'them'}${help}`,
    );
  }
  if (notCompared > 0) {
    const leads = counted(notCompared, 'lead has', 'leads have');
    messages.warn(
      `${leads} other bytes than what was received, and could not be compared: the received body was pruned`,
    );
  }
  if (notJudged > 0) {
    const leads = counted(notJudged, 'received lead is', 'received leads are');
    messages.warn(
      `${leads} not in the list, and may be extra: whether the filters ask for ${notJudged === 1 ? 'it' : 'them'} cannot be told, since the received body was pruned`,
    );
  }
}

/** Throws a `ConfigError` where nothing was ever received: everything would be missing. */
async function openReceived(options: AuditCommandOptions, context: Context): Promise<OpenedReceived> {
  if (options.received !== undefined) {
    const { openReceivedFile } = await import('./received-file.ts');
    return openReceivedFile(options.received, options.leadAt ?? 'auto', context);
  }
  const settings = await context.settings();
  const location = await resolveInbox(options, settings, context);
  if (!isInboxThere(location)) {
    throw new ConfigError(
      `there is no inbox at ${locationText(location)}, so there is nothing to compare with`,
      {
        hint: "'leads listen' makes it; name another one with --inbox FILE, or an export of your application with --received FILE",
      },
    );
  }
  const { clock, pid, messages } = context;
  const writable = options.takeIn
    ? await openInbox({ location, clock, pid, warn: (found) => messages.warn(describeWarning(found)) })
    : undefined;
  const inbox = writable ?? (await openInboxReader({ location, clock }));
  return {
    name: `the inbox ${locationText(location)}`,
    leads: inbox,
    store: writable,
    undecidable: [],
    hasTimes: true,
    rejections: () => rejectionsIn(inbox, leadPlaceOf(settings)),
    close: () => inbox.close(),
  };
}
