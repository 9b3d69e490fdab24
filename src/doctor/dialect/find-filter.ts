import type { KindsOf } from '../../errors.ts';
import { isObject } from '../../json/exact.ts';
import { fieldAt } from '../../lead/raw-lead.ts';
import { statusFields } from '../../service/status-fields.ts';
import type { DialectEvidence, Selection, StatusField } from '../problems.ts';
import { findHonouredName } from './find-honoured-name.ts';
import { noRequestLeft, type Reaction, type TriedName, withoutPage } from './find-limit.ts';
import type { DialectAsker, Query } from './limited-requests.ts';
import {
  isLoss,
  isSelection,
  isUnfiltered,
  type KnownFront,
  keysOf,
  type LeadTest,
  type Seen,
  type SeenLead,
} from './seen-page.ts';

export type FilterFinding = KindsOf<{
  /** `field`: what it narrows by, where leads showed that. */
  honoured: TriedName & { field?: string | undefined };
  /** It changes nothing; what it should leave out is left out here. */
  ignored: TriedName;
  rejected: TriedName;
  /**
   * It narrows, and not to what was asked for. `isLossy`: none of the known leads that it should have brought came.
   * `bringsOthers`: it brought leads that the whole list lacks.
   */
  wrong: TriedName & { isLossy?: boolean; bringsOthers?: boolean };
  unknown: { why: DialectEvidence };
}>;

/** The list without filters. */
export interface KnownList extends KnownFront {
  /** What a page of that many leads was asked with. */
  readonly query: Query;
  /** There are no other leads than these. */
  readonly isWhole: boolean;
}

/** A value of a filter, and the leads that it should leave. */
export interface FilterValue {
  readonly text: string;
  readonly selects: LeadTest;
  readonly leads: Selection;
}

export interface FilterSearch {
  readonly asker: DialectAsker;
  readonly reaction: Reaction | undefined;
  readonly list: KnownList;
  /** The name in force first; the others are tried where it is ignored. */
  readonly names: readonly string[];
}

/** Tried one by one where a service does not ignore what it does not know. */
const mostAlone = 3;

/** Finds the parameter that narrows the list; the first one of `values` is what a name is tried with alone. */
export async function findFilter(search: FilterSearch, all: readonly FilterValue[]): Promise<FilterFinding> {
  const { asker, reaction, list, names } = search;
  // A filter that leaves the first page as it is does not show.
  const values = all.filter(({ selects }) => !list.leads.slice(0, list.capacity).every(selects));
  const [value] = values;
  if (value === undefined) return { kind: 'unknown', why: { kind: 'leads-alike' } };
  if (reaction !== 'ignores' || names.length === 1) return tryEach(search, value);
  const found = await findHonouredName<FilterValue>({
    ...{ asker, names, values, textOf: ({ text }) => text, base: list.query },
    read: (seen) => {
      const shown = values.find(({ selects }) => isSelection(seen.leads, list, selects));
      if (shown !== undefined) return { kind: 'value', value: shown };
      return { kind: isUnfiltered(seen.leads, list) ? 'nothing' : 'unclear' };
    },
  });
  switch (found.kind) {
    case 'found':
      return honoured(found.name, found.value);
    case 'nothing':
      return ignored(names);
    case 'unasked':
      return { kind: 'unknown', why: noRequestLeft };
    case 'unclear':
      return tryEach(search, value);
  }
}

async function tryEach(search: FilterSearch, value: FilterValue): Promise<FilterFinding> {
  let first: FilterFinding | undefined;
  for (const name of search.names.slice(0, mostAlone)) {
    const found = await tryOne(search, name, value);
    if (found.kind === 'honoured') return found;
    first ??= found;
    if (found.kind === 'unknown') break;
  }
  return first ?? { kind: 'unknown', why: { kind: 'no-parameter' } };
}

async function tryOne(
  { asker, list }: FilterSearch,
  name: string,
  value: FilterValue,
): Promise<FilterFinding> {
  const seen = await asker.ask({ ...list.query, [name]: value.text });
  return judge(seen, list, name, value);
}

function judge(
  seen: Seen,
  list: KnownList,
  name: string,
  { text, selects, leads: wanted }: FilterValue,
): FilterFinding {
  const asked = `${name}=${text}`;
  if (seen.kind !== 'page') return withoutPage(seen, name, asked);
  const others = list.isWhole ? oldOthers(seen.leads, list.leads) : 0;
  if (others > 0) {
    const evidence = { kind: 'brought-others', asked, count: others } as const;
    return { kind: 'wrong', name, evidence, bringsOthers: true };
  }
  if (isSelection(seen.leads, list, selects)) return honoured(name, { text, leads: wanted });
  if (isUnfiltered(seen.leads, list))
    return { kind: 'ignored', name, evidence: { kind: 'no-effect', asked } };
  const evidence = { kind: 'brought-other-selection', asked, count: seen.count, wanted } as const;
  return { kind: 'wrong', name, evidence, isLossy: isLoss(seen.leads, list, selects) };
}

const honoured = (name: string, { text, leads }: Pick<FilterValue, 'text' | 'leads'>): FilterFinding => ({
  ...{ kind: 'honoured', name },
  evidence: { kind: 'brought-selection', asked: `${name}=${text}`, wanted: leads },
});

/** How many leads are unknown and older than the newest known one: they did not arrive meanwhile. */
function oldOthers(seen: readonly SeenLead[], known: readonly SeenLead[]): number {
  const keys = new Set(keysOf({ leads: known }));
  const newest = Math.max(...known.map(({ createdAt }) => createdAt ?? -Infinity));
  return seen.filter(({ key, createdAt }) => !keys.has(key) && createdAt !== undefined && createdAt < newest)
    .length;
}

const ignored = ([name = '', ...others]: readonly string[]): FilterFinding => ({
  ...{ kind: 'ignored', name, evidence: { kind: 'no-effect-of-names', count: others.length + 1, name } },
});

/** No lead has it. */
const impossible = 'leads-doctor-none';

/** Finds the parameter that narrows the list to one value of a field; `field` is undefined where no lead shows it. */
export async function findFieldFilter(
  search: FilterSearch,
  field: string | undefined,
  what: string,
): Promise<FilterFinding> {
  const { leads } = search.list;
  const values = field === undefined ? [] : valuesOf(leads, field);
  if (leads.length < 2) return { kind: 'unknown', why: { kind: 'few-leads' } };
  if (field === undefined || values.length < 2) return findByImpossible(search, field, what, values[0]);
  const path = field.split('.');
  const found = await findFilter(
    search,
    values.map((text) => ({
      text,
      selects: ({ record }) => fieldAt(record, path) === text,
      leads: { kind: 'leads-of-field', field, text },
    })),
  );
  return found.kind === 'honoured' ? { ...found, field } : found;
}

/**
 * Where leads do not differ, a filter shows by two answers: no lead has a value that no lead can have, and all of them
 * have the one that all have.
 */
async function findByImpossible(
  { asker, list, names, reaction }: FilterSearch,
  field: string | undefined,
  what: string,
  only: string | undefined,
): Promise<FilterFinding> {
  const why = { kind: 'effect-hidden', what, only, name: names[0] ?? what } as const;
  const unclear: FilterFinding = { kind: 'unknown', why };
  // A service that takes every parameter for a field, or rejects unknown ones, shows nothing by that.
  if (reaction !== 'ignores') return unclear;
  const found = await findHonouredName<string>({
    ...{ asker, names, values: [impossible], textOf: String, base: list.query },
    read: ({ count }) => (count === 0 ? { kind: 'value', value: impossible } : { kind: 'nothing' }),
  });
  if (found.kind === 'unasked') return { kind: 'unknown', why: noRequestLeft };
  if (found.kind === 'nothing') return ignored(names);
  if (found.kind === 'unclear' || only === undefined) return unclear;
  const all = await asker.ask({ ...list.query, [found.name]: only });
  if (all.kind !== 'page' || all.count < Math.min(list.leads.length, list.capacity)) return unclear;
  const { name } = found;
  return {
    kind: 'honoured',
    name,
    evidence: { kind: 'impossible-brought-none', name, impossible, only },
    field,
  };
}

/** The values of a field, the most frequent first. */
export function valuesOf(leads: readonly SeenLead[], field: string): string[] {
  const counts = new Map<string, number>();
  for (const { record } of leads) {
    const value = fieldAt(record, field.split('.'));
    if (typeof value === 'string' && value !== '') counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts].toSorted((a, b) => b[1] - a[1]).map(([value]) => value);
}

/** The more usual names first. */
const usualFields = [...statusFields, 'deliveryState', 'delivery_state'];

/** More different values than a status has. */
const mostValues = 20;

/** Fields that may hold the delivery status of the leads, the likeliest first. */
export function statusFieldsOf(leads: readonly SeenLead[], configured: string | undefined): StatusField[] {
  const present = new Set(leads.flatMap(({ record }) => (isObject(record) ? Object.keys(record) : [])));
  const isLikely = (name: string): boolean =>
    name === configured || usualFields.includes(name) || /status|state/i.test(name);
  return [...new Set([configured, ...usualFields, ...present])]
    .filter((name) => name !== undefined && present.has(name) && isLikely(name))
    .map((name) => ({ name: name ?? '', values: valuesOf(leads, name ?? '') }))
    .filter(({ values }) => values.length > 0 && values.length <= mostValues);
}
