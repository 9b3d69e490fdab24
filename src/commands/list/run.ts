import type { Context } from '../../context.ts';
import { parseLead } from '../../lead/field.ts';
import { FieldPresence } from '../../lead/field-presence.ts';
import { leadFilter } from '../../lead/filter.ts';
import { IncompleteError } from '../../service/listing/evidence/completion.ts';
import { oldestFirst } from '../../lead/oldest-first.ts';
import type { RawLead } from '../../lead/raw-lead.ts';
import { outliveOutages } from '../../service/client/outlive-outages.ts';
import { openService } from '../../service/client/service.ts';
import type { Outcome } from '../flags/command-spec.ts';
import { noteFilters, noteMissingFields } from '../flags/filter-notes.ts';
import { resolveFilter } from '../flags/resolve-filter.ts';
import { leadPrinter } from './lead-printer.ts';
import { type ListOptions, rejectContradictions } from './options.ts';
import { type Remainder, selectLeads } from './select-leads.ts';

export async function run(options: ListOptions, context: Context): Promise<Outcome> {
  rejectContradictions(options);
  const { limit, watch, format } = options;
  const service = await openService(context);
  const { query, filter } = resolveFilter(options, context.clock.now(), context.messages);
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
    noteRemainder(remainder, shown, context);
    if (shown === 0 && format === 'table') context.messages.say('no lead matches');
    return 'done';
  }
  const { watchLeads } = await import('./watch-leads.ts');
  const { acceptIncomplete } = options;
  await watchLeads({ service, query, matcher, every: watch, print, acceptIncomplete }, context);
  return 'done';
}

function noteRemainder(remainder: Remainder, shown: number, { messages }: Context): void {
  if (typeof remainder === 'object') {
    messages.note('incomplete', `leads may be missing: ${remainder.why}`);
  }
  if (remainder === 'more') {
    const what = shown === 1 ? 'this is the first lead' : `these are the first ${shown} leads`;
    messages.note('more', `${what}; for more: --limit ${shown * 5}, or --limit all`);
  }
}
