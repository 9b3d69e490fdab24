import type { Context, Outcome } from '../../context.ts';
import { FieldPresence, leadMatcher, type LeadMatcher } from '../../lead/filter.ts';
import { oldestFirst, type RawLead } from '../../lead/raw-lead.ts';
import { noteFilters, noteMissingFields } from '../../output/walk-notes.ts';
import { openService, type Service } from '../../service/client/service.ts';
import { listLeads } from '../../service/listing.ts';
import { IncompleteError, type LeadQuery } from '../../service/listing-types.ts';
import type { Unproven } from '../../service/pagers/pager.ts';
import { formatInstant } from '../../time/zone.ts';
import { outliveOutages } from '../flags/polling.ts';
import { resolveFilter } from '../flags/shared-flags.ts';
import type { ListOptions } from './command.ts';
import { leadPrinter } from './lead-printer.ts';

export async function run(options: ListOptions, context: Context): Promise<Outcome> {
  const { limit, watch, format, acceptIncomplete } = options;
  const service = await openService(context, { asksOnce: true });
  const { query, filter } = resolveFilter(options, context.clock.now(), context.messages);
  const printer = await leadPrinter(options, context);
  const matcher = leadMatcher({ ...filter, text: options.text });
  const fields = new FieldPresence(options.fields ?? []);
  const print = async (leads: readonly RawLead[]): Promise<void> => {
    for (const lead of leads) fields.examineLead(lead);
    await printer.print(leads);
  };
  // A table is drawn as a whole; with `--watch`, the oldest lead is printed first.
  const isPrintedLater = format === 'table' || watch !== undefined;
  const printPage = isPrintedLater ? undefined : print;
  const read = () => readFirst(service, { query, matcher, limit }, printPage);
  const { leads, count, remainder, startedAt } =
    watch === undefined
      ? await read()
      : await outliveOutages(read, { everyMs: watch, hasWorked: false }, context);
  await print(watch === undefined ? leads : oldestFirst(leads));
  await printer.end?.();
  noteFilters(matcher, context.messages);
  noteMissingFields('--fields', fields, context.messages);
  // A list of all leads must be complete; the first leads of a list need no proof.
  if (typeof remainder === 'object' && limit === Infinity && !acceptIncomplete) {
    throw new IncompleteError(remainder);
  }
  if (watch === undefined) {
    noteRemainder(remainder, count, context);
    if (count === 0 && format === 'table') context.messages.say(noMatch(query, options.zone));
    return 'done';
  }
  const { watchLeads } = await import('./watch-leads.ts');
  const previous = { startedAt, ids: new Set(leads.map(({ id }) => id)) };
  await watchLeads({ service, query, matcher, every: watch, print, previous, acceptIncomplete }, context);
  return 'done';
}

/** A window of time that misses every lead is seen by its ends. */
function noMatch({ since, until }: LeadQuery, zone = 'UTC'): string {
  const end = (word: string, time?: number): string =>
    time === undefined ? '' : ` ${word} ${formatInstant(time, zone)}`;
  const window = end('from', since) + end('until', until);
  return `no lead matches${window}${window && '; the newest: leads list -n 1'}`;
}

function noteRemainder(remainder: Remainder, count: number, { messages }: Context): void {
  if (typeof remainder === 'object') {
    messages.note('incomplete', `leads may be missing: ${remainder.reason.message}`);
  }
  if (remainder === 'more') {
    const sentence = count === 1 ? 'this is the first lead' : `these are the first ${count} leads`;
    messages.note('more', `${sentence}; for more: --limit ${count * 5}, or --limit all`);
  }
}

/** Whether leads exist after the limit, or perhaps exist, because the service proves no end. */
type Remainder = 'none' | 'more' | Unproven;

interface Selection {
  readonly query: LeadQuery;
  readonly matcher: LeadMatcher;
  readonly limit: number;
}

const largestPage = 1000;

/**
 * Reads the first `limit` leads that match, and requests no needless page; with `print`, each page is printed as soon as it is
 * there, and `leads` stay empty. Where filters are checked here and few records may match, pages are as large as for an export.
 */
async function readFirst(
  service: Service,
  { query, matcher, limit }: Selection,
  print: ((leads: readonly RawLead[]) => Promise<void>) | undefined,
) {
  const startedAt = service.clock.now();
  const preferredSize = matcher.matchesAll && limit <= largestPage ? limit : undefined;
  let unprovenEnd: Unproven | undefined;
  const pages = listLeads(service, {
    query,
    preferredSize,
    prefetch: limit === Infinity,
    acceptUnproven(end) {
      unprovenEnd = end;
    },
  });
  const leads: RawLead[] = [];
  let count = 0;
  let hasMore = false;
  for await (const batch of pages) {
    const passing = batch.leads.filter(matcher.matches);
    const selected = passing.slice(0, limit - count);
    count += selected.length;
    if (print === undefined) leads.push(...selected);
    else await print(selected);
    hasMore = selected.length < passing.length || (count === limit && !batch.last);
    if (hasMore) break;
  }
  const mayHaveMore = hasMore || (unprovenEnd !== undefined && count === limit);
  const remainder: Remainder = mayHaveMore ? 'more' : (unprovenEnd ?? 'none');
  return { leads, count, remainder, startedAt };
}
