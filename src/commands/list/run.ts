import { outliveOutages } from '../flags/polling.ts';
import type { Context, Outcome } from '../../context.ts';
import { oldestFirst, parseLead, type RawLead } from '../../lead/raw-lead.ts';
import { FieldPresence, leadFilter, type LeadFilter, type LeadMatcher } from '../../lead/filter.ts';
import { openService, type Service } from '../../service/client/service.ts';
import { IncompleteError, type Unproven } from '../../service/listing/incomplete-error.ts';
import { listLeads } from '../../service/listing/lead-pages.ts';
import type { LeadQuery } from '../../service/listing/listing-types.ts';
import { noteNearValues } from '../flags/near-values.ts';
import { noteFilters, noteMissingFields, resolveFilter } from '../flags/resolve-filter.ts';
import { type ListOptions, rejectContradictions } from './options.ts';
import { leadPrinter } from './print.ts';

export async function run(options: ListOptions, context: Context): Promise<Outcome> {
  rejectContradictions(options);
  const { limit, watch, format } = options;
  const service = await openService(context, { asksOnce: true });
  const { query, filter: flagged } = resolveFilter(options, context.clock.now(), context.messages);
  const filter = { ...flagged, text: options.text };
  const printer = await leadPrinter(options, context);
  const matcher = leadFilter(filter);
  const fields = new FieldPresence(options.fields ?? []);
  const print = async (leads: readonly RawLead[]): Promise<void> => {
    for (const lead of leads) if (fields.searching) fields.look(parseLead(lead));
    await printer.print(leads);
  };
  // While watching, new leads come below the older ones, so these must be known before the first is printed.
  const held: RawLead[] = [];
  const begin = async () => {
    const pages = selectLeads(service, query, filter, matcher, limit);
    return { selection: pages, first: await pages.next() };
  };
  const { selection, first } =
    watch === undefined
      ? await begin()
      : await outliveOutages(begin, { every: watch, hasWorked: false }, context);
  let shown = 0;
  let page = first;
  for (; page.done !== true; page = await selection.next()) {
    shown += page.value.length;
    if (watch === undefined) await print(page.value);
    else held.push(...page.value);
  }
  await print(oldestFirst(held));
  await printer.end();
  noteFilters(matcher, context.messages);
  noteMissingFields('--fields', fields, context.messages);
  const remainder = page.value;
  // A list of all leads has to be one; the first leads of a list are what they are.
  if (typeof remainder === 'object' && limit === Infinity && !options.acceptIncomplete) {
    throw new IncompleteError(remainder);
  }
  if (watch === undefined) {
    await noteRemainder(remainder, shown, context);
    if (shown === 0 && format === 'table') context.messages.say('no lead matches');
    if (shown === 0) await noteNearValues(service, query, context.messages);
    return 'done';
  }
  const { watchLeads } = await import('./watch-leads.ts');
  const { acceptIncomplete } = options;
  await watchLeads({ service, query, matcher, every: watch, print, acceptIncomplete }, context);
  return 'done';
}

async function noteRemainder(remainder: Remainder, shown: number, { messages }: Context): Promise<void> {
  if (typeof remainder === 'object') {
    const { problemSentence } = await import('../../messages/find-message.ts');
    messages.note('incomplete', `leads may be missing: ${problemSentence(remainder.reason)}`);
  }
  if (remainder === 'more') {
    const what = shown === 1 ? 'this is the first lead' : `these are the first ${shown} leads`;
    messages.note('more', `${what}; for more: --limit ${shown * 5}, or --limit all`);
  }
}

/** Whether leads exist that were not selected: beyond the limit, or perhaps, where the service proves no end. */
type Remainder = 'none' | 'more' | Unproven;

/** The largest page that is requested for a limit. */
const largestPage = 1000;

/**
 * The first `limit` leads that pass, page by page. Requests no page that is not needed. Where filters are checked here
 * and few records may pass, pages are as large as for an export.
 */
async function* selectLeads(
  service: Service,
  query: LeadQuery,
  filter: LeadFilter,
  { matches }: LeadMatcher,
  limit: number,
): AsyncGenerator<readonly RawLead[], Remainder, undefined> {
  const filtersHere =
    filter.categories.length + filter.where.length > 0 ||
    filter.text !== undefined ||
    filter.since !== undefined ||
    filter.until !== undefined;
  const preferredSize = filtersHere || limit > largestPage ? undefined : limit;
  const ends: Unproven[] = [];
  const pages = listLeads(service, {
    query,
    preferredSize,
    prefetch: limit === Infinity,
    acceptUnproven: (end) => void ends.push(end),
  });
  let left = limit;
  for await (const batch of pages) {
    const passing = batch.leads.filter(matches);
    if (passing.length > left) {
      yield passing.slice(0, left);
      return 'more';
    }
    left -= passing.length;
    yield passing;
    if (left === 0 && !batch.last) return 'more';
  }
  const [unproven = 'none'] = ends;
  return left === 0 && ends.length > 0 ? 'more' : unproven;
}
