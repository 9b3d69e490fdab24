import type { Front } from '../front.ts';
import { isObject } from '../json/exact.ts';
import type { FieldPresence, LeadMatcher } from '../lead/filter.ts';
import { fieldAt, parseLead, type RawLead } from '../lead/raw-lead.ts';
import type { Messages } from './messages.ts';
import { nearest } from './suggest.ts';
import { counted } from './terminal/progress.ts';

const mostListedFields = 12;

/**
 * Notes, at the end of a walk, why a filter may not do what was meant. `where` is the name of the filter on fields: a flag of
 * the command line, or an option of the library.
 */
export function noteFilters(
  matcher: LeadMatcher,
  messages: Pick<Messages, 'note'>,
  where: '--where' | 'where' = '--where',
): void {
  noteUnreadableTimes(matcher.unreadableTimes, messages);
  noteMissingFields(where, matcher.fields, messages);
  for (const category of matcher.unmatchedCategories) {
    if (!category.includes(',')) continue;
    const names = category.split(',').map((name) => name.trim());
    const anyOfThem =
      where === '--where'
        ? names.map((name) => `--category ${name}`).join(' ')
        : `category: [${quotedList(names)}]`;
    messages.note('category-comma', `no lead has the category '${category}'; any of several is ${anyOfThem}`);
  }
}

/** Notes which fields of a flag or an option no lead has, and which fields the leads have. */
export function noteMissingFields(
  flag: string,
  fields: Pick<FieldPresence, 'missing' | 'names'>,
  messages: Pick<Messages, 'note'>,
): void {
  const { missing } = fields;
  if (missing.length === 0) return;
  const { names } = fields;
  const subject = `${missing.length === 1 ? 'is no field' : 'are no fields'} ${quotedList(missing)}`;
  const meant = missing.flatMap((name) => meantField(name, names) ?? []);
  const listed = names.slice(0, mostListedFields).join(', ') + (names.length > mostListedFields ? ', …' : '');
  const help =
    meant.length < missing.length ? `the fields are ${listed}` : `did you mean ${quotedList(meant)}?`;
  messages.note(`missing ${flag}`, `${flag}: there ${subject}; ${help}`);
}

const quotedList = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(', ');

/** `EMAIL` means `contact.email`, and so does `contact.emial`. */
function meantField(typed: string, names: readonly string[]): string | undefined {
  const folded = typed.toLowerCase();
  return (
    names.find((name) => name.toLowerCase() === folded) ??
    names.find((name) => name.toLowerCase().endsWith(`.${folded}`)) ??
    nearest(typed, names)
  );
}

export function noteUnreadableTimes(leads: number, messages: Pick<Messages, 'note'>): void {
  if (leads === 0) return;
  const keptLeads = counted(leads, 'lead was kept whose', 'leads were kept whose');
  const age = leads === 1 ? 'its age is unknown' : 'their age is unknown';
  messages.note('unreadable-time', `${keptLeads} createdAt is missing or no known form of time, so ${age}`);
}

/** Leads that are looked at in a batch: a status that is not honoured shows in the first ones. */
const sample = 20;

/**
 * Notes, while a list is read, that it has leads with another status than the one that was asked for. `fields`: dotted names of
 * members that may hold the status.
 */
export function noteOtherStatus(
  leads: readonly RawLead[],
  askedStatus: string,
  fields: readonly string[],
  { front, messages }: { readonly front: Front; readonly messages: Pick<Messages, 'note'> },
): void {
  for (const lead of leads.slice(0, sample)) {
    const record = parseLead(lead);
    for (const field of fields) {
      const status = isObject(record) ? fieldAt(record, field.split('.')) : undefined;
      if (typeof status !== 'string' || status === askedStatus) continue;
      const advice = `to narrow here: ${front.option('where', `${field}=${askedStatus}`)}`;
      messages.note('status', `the service also lists leads with ${field} '${status}'; ${advice}`);
      return;
    }
  }
}
