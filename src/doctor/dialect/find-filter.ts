import { isObject } from '../../json/exact.ts';
import { fieldAt } from '../../lead/raw-lead.ts';
import { statusFields } from '../../service/listing/status-field.ts';
import type { DialectAsker, Query } from './limited-requests.ts';
import { noRequestLeft, type Reaction } from './find-limit.ts';
import { narrowNames, type Shown } from './find-honoured-name.ts';
import { isLoss, isSelection, isUnfiltered, type Seen, type SeenLead, type SeenPage } from './seen-page.ts';

export type FilterFinding =
  | {
      readonly kind: 'honoured';
      readonly name: string;
      readonly evidence: string;
      /** The field that it narrows by, where leads showed that. */
      readonly field?: string;
    }
  /** It changes nothing; what it should leave out is left out here. */
  | { readonly kind: 'ignored'; readonly name: string; readonly evidence: string }
  | { readonly kind: 'rejected'; readonly name: string; readonly evidence: string }
  /** It narrows, and not to what was asked for. */
  | {
      readonly kind: 'wrong';
      readonly name: string;
      readonly evidence: string;
      /** None of the known leads that it should have brought came. */
      readonly isLossy?: boolean;
    }
  | { readonly kind: 'unknown'; readonly why: string };

export interface FilterSearch {
  readonly asker: DialectAsker;
  readonly reaction: Reaction | undefined;
  /** A page without filters, and what it was asked with. */
  readonly reference: { readonly page: SeenPage; readonly query: Query };
  /** The name in force first; the others are tried where it is ignored. */
  readonly names: readonly string[];
  /** Dotted name of the field that is filtered by; undefined where no lead shows it. */
  readonly field: string | undefined;
  /** What an unknown value of the filter is called. */
  readonly what: string;
}

/** Tried one by one where a service does not ignore what it does not know. */
const mostAlone = 3;

/** No lead has it. */
const impossible = 'leads-doctor-none';

/** Finds the parameter that narrows a list to one value of a field. */
export async function findFilter(search: FilterSearch): Promise<FilterFinding> {
  const { asker, reaction, reference, names, field } = search;
  const { leads } = reference.page;
  const values = field === undefined ? [] : valuesOf(leads, field);
  if (leads.length < 2) return { kind: 'unknown', why: 'there are too few leads to tell' };
  if (field === undefined || values.length < 2) return findByImpossible(search, values[0]);
  if (reaction !== 'ignores' || names.length === 1) {
    let last: FilterFinding | undefined;
    for (const one of names.slice(0, mostAlone)) {
      const seen = await asker.ask({ ...reference.query, [one]: values[0] ?? '' });
      const found = judge(seen, leads, field, values[0] ?? '', one);
      if (found.kind === 'honoured') return found;
      last ??= found;
      if (found.kind === 'unknown') break;
    }
    return last ?? { kind: 'unknown', why: noRequestLeft };
  }
  const found = await narrowNames(
    names,
    values,
    async (sent): Promise<Shown<string>> => {
      const seen = await asker.ask({ ...reference.query, ...Object.fromEntries(sent) });
      if (seen.kind === 'unasked') return seen;
      if (seen.kind === 'rejected' || seen.count === 0) return { kind: 'unclear' };
      const value = values.find((one) => isSelection(seen.leads, leads, hasValue(field, one)));
      if (value !== undefined) return { kind: 'value', value };
      return isUnfiltered(seen.leads, leads) ? { kind: 'nothing' } : { kind: 'unclear' };
    },
    asker,
  );
  if (found.kind === 'found') return honoured(found.name, found.value, field);
  if (found.kind === 'nothing') return ignored(names);
  if (found.kind === 'unasked') return { kind: 'unknown', why: noRequestLeft };
  return findFilter({ ...search, reaction: undefined });
}

/**
 * Where leads do not differ, a filter shows by two answers: no lead has a value that no lead can have, and all of them
 * have the one that all have.
 */
async function findByImpossible(search: FilterSearch, only: string | undefined): Promise<FilterFinding> {
  const { asker, reference, names, reaction, what } = search;
  const [name = ''] = names;
  const seenOnly = only === undefined ? `no lead shows its ${what}` : `every lead has the ${what} '${only}'`;
  const unclear: FilterFinding = {
    kind: 'unknown',
    why: `${seenOnly}, so the effect of ${name} does not show`,
  };
  // A service that takes every parameter for a field, or rejects unknown ones, shows nothing by that.
  if (reaction !== 'ignores') return unclear;
  const found = await narrowNames(
    names,
    [impossible],
    async (sent): Promise<Shown<string>> => {
      const seen = await asker.ask({ ...reference.query, ...Object.fromEntries(sent) });
      if (seen.kind === 'unasked') return seen;
      if (seen.kind === 'rejected') return { kind: 'unclear' };
      return seen.count === 0 ? { kind: 'value', value: impossible } : { kind: 'nothing' };
    },
    asker,
  );
  if (found.kind === 'unasked') return { kind: 'unknown', why: noRequestLeft };
  if (found.kind === 'nothing') return ignored(names);
  if (found.kind === 'unclear' || only === undefined) return unclear;
  const all = await asker.ask({ ...reference.query, [found.name]: only });
  if (all.kind !== 'page' || all.count < reference.page.count) return unclear;
  const evidence = `${found.name}=${impossible} brought no lead, and ${found.name}=${only} all`;
  return { kind: 'honoured', name: found.name, evidence, ...(search.field && { field: search.field }) };
}

const ignored = (names: readonly string[]): FilterFinding => {
  const [name = ''] = names;
  const evidence =
    names.length === 1
      ? `${name} changed nothing`
      : `${names.length} names changed nothing, ${name} among them`;
  return { kind: 'ignored', name, evidence };
};

function judge(
  seen: Seen,
  all: readonly SeenLead[],
  field: string,
  value: string,
  name: string,
): FilterFinding {
  const asked = `${name}=${value}`;
  if (seen.kind === 'unasked') return { kind: 'unknown', why: noRequestLeft };
  if (seen.kind === 'rejected' && (seen.status ?? 0) >= 500)
    return { kind: 'unknown', why: `${asked} was answered ${seen.status}` };
  if (seen.kind === 'rejected')
    return { kind: 'rejected', name, evidence: `${asked} was rejected (${seen.status ?? seen.message})` };
  if (isSelection(seen.leads, all, hasValue(field, value))) return honoured(name, value, field);
  if (isUnfiltered(seen.leads, all)) return { kind: 'ignored', name, evidence: `${asked} changed nothing` };
  const evidence = `${asked} brought ${seen.count} leads, and not those with it`;
  return { kind: 'wrong', name, evidence, isLossy: isLoss(seen.leads, all, hasValue(field, value)) };
}

const honoured = (name: string, value: string, field: string): FilterFinding => ({
  kind: 'honoured',
  name,
  field,
  evidence: `${name}=${value} brought only leads with ${field} '${value}'`,
});

/** The values of a field, the most frequent first. */
export function valuesOf(leads: readonly SeenLead[], field: string): string[] {
  const counts = new Map<string, number>();
  for (const { record } of leads) {
    const value = fieldAt(record, field.split('.'));
    if (typeof value === 'string' && value !== '') counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts].toSorted((a, b) => b[1] - a[1]).map(([value]) => value);
}

const hasValue = (field: string, value: string) => {
  const path = field.split('.');
  return ({ record }: SeenLead): boolean => fieldAt(record, path) === value;
};

/** The more usual names first. */
const usualFields = [...statusFields, 'deliveryState', 'delivery_state'];

/** More different values than a status has. */
const mostValues = 20;

/** A field that may hold the delivery status, with the values seen, the most frequent first. */
export interface StatusField {
  readonly name: string;
  readonly values: readonly string[];
}

/** Fields that may hold the delivery status of the leads, the likeliest first. */
export function statusFieldsOf(leads: readonly SeenLead[], configured: string | undefined): StatusField[] {
  const present = new Set(leads.flatMap(({ record }) => (isObject(record) ? Object.keys(record) : [])));
  const likely = [configured, ...usualFields, ...present].filter(
    (name, i, all): name is string =>
      name !== undefined && present.has(name) && all.indexOf(name) === i && isLikely(name, configured),
  );
  return likely
    .map((name) => ({ name, values: valuesOf(leads, name) }))
    .filter(({ values }) => values.length > 0 && values.length <= mostValues);
}

const isLikely = (name: string, configured: string | undefined): boolean =>
  name === configured || usualFields.includes(name) || /status|state/i.test(name);
