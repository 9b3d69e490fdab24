import { isObject } from '../../json/exact.ts';
import { fieldAt } from '../../lead/raw-lead.ts';
import { timeText } from '../../service/page-request.ts';
import * as names from '../../service/pagers/names.ts';
import { pass, skip, warn } from '../check-result.ts';
import { type Examination, keysOf, type SeenLead } from './examination.ts';
import { findName, type NameFinding, type Trial } from './find-name.ts';

type FilterName = 'status' | 'category' | 'since' | 'until';

interface FilterSearch {
  readonly examination: Examination;
  /** The leads of the first one or two pages. */
  readonly leads: readonly SeenLead[];
  /** How many of the leads are on the first page, and the query that asks for that page. */
  readonly pageSize: number;
  readonly query: Readonly<Record<string, string>>;
}

/** Finds out by which parameters the service narrows the list: status and category, then both bounds of a time. */
export async function findFilters(search: FilterSearch): Promise<void> {
  const { examination, leads } = search;
  const { statusField = 'status', dateFormat = 'iso' } = examination.dialect;
  const field = statusFieldOf(leads, statusField);
  // The service may filter by another field than this: no lead is sure to come.
  const statuses = fieldTrials(search, field).map((trial) => ({ ...trial, expected: [] }));
  const status = await findFilter(search, 'status', [...names.statusParams, field], [statuses]);
  if (status.effect === 'honoured') examination.addLearntKey('status-field', field, status.evidence);
  await findFilter(search, 'category', names.categoryParams, [fieldTrials(search, 'category')]);
  const usualFormats = examination.isLearning ? (['iso', 'unix', 'unix-ms'] as const) : [];
  const formats = [...new Set([dateFormat, ...usualFormats])];
  const starts = names.timeParams.map(([name]) => name);
  const sinceRounds = formats.map((format) => timeTrials(search, 'since', format));
  const since = await findFilter(search, 'since', starts, sinceRounds);
  const honouredFormat = since.effect === 'honoured' ? formats[since.round] : undefined;
  const format = honouredFormat ?? dateFormat;
  if (format !== dateFormat) examination.addLearntKey('date-format', format, since.evidence);
  // The name of `until` that belongs to the honoured one of `since` is likeliest.
  const isPartner = ([name]: (typeof names.timeParams)[number]): boolean => name === since.name;
  const pairs = names.timeParams.toSorted((a, b) => Number(isPartner(b)) - Number(isPartner(a)));
  const ends = pairs.map(([, end]) => end);
  await findFilter(search, 'until', ends, [timeTrials(search, 'until', format)]);
}

/** Services also give these names to positions: such a parameter may move the list instead of narrowing it. */
const positionNames = [
  ...names.numberParams.page.tried,
  ...names.numberParams.offset.tried,
  ...names.cursorParams,
];

/**
 * Looks for the name of one filter. Each round tries all names with another kind of values, until a name is not ignored. Returns
 * the finding of the last round, and its index.
 */
async function findFilter(
  { examination, leads, pageSize, query }: FilterSearch,
  filter: FilterName,
  usualNames: readonly string[],
  rounds: readonly (readonly Trial[])[],
): Promise<NameFinding & { readonly round: number }> {
  const inForce = examination.params[filter];
  const otherNames = usualNames.filter((name) => examination.isLearning && !positionNames.includes(name));
  const candidates = [...new Set(inForce === undefined ? otherNames : [inForce, ...otherNames])];
  let finding: NameFinding = { effect: 'unknown', name: '', evidence: 'no parameter is set for it' };
  let round = -1;
  do {
    round += 1;
    const search = { query, baseline: leads.slice(0, pageSize), trials: rounds[round] ?? [] };
    if (candidates.length > 0) finding = await findName(examination, search, candidates);
  } while (finding.effect === 'ignored' && !examination.isServiceStrict && round + 1 < rounds.length);
  reportFilter(examination, filter, finding);
  return { ...finding, round };
}

function reportFilter(
  examination: Examination,
  filter: FilterName,
  { effect, name, evidence }: NameFinding,
): void {
  const { checks, isLearning, params } = examination;
  const inForce = params[filter];
  const check = `dialect.${filter}`;
  const narrows = filter === 'status' ? '' : ', so leads narrows here';
  // A harmful parameter fails every request, or leaves out the leads that are asked for.
  const isRemoved = isLearning && effect === 'harmful' && name === inForce;
  if (effect === 'honoured' || isRemoved)
    examination.addLearntKey(`params.${filter}`, isRemoved ? null : name, evidence);
  if (effect === 'honoured') checks.push(pass(check, evidence));
  else if (effect === 'unknown') checks.push(skip(check, evidence));
  else if (inForce === undefined)
    checks.push(skip(check, `no usual name is understood${narrows}: ${evidence}`));
  else if (effect === 'ignored') {
    const elsewhere = filter === 'status' ? 'narrow here: --where FIELD=VALUE' : undefined;
    const hint = isLearning ? elsewhere : "'leads doctor --learn' looks for another name";
    checks.push(warn(check, `silently ignored${narrows}: ${evidence}`, hint));
  } else
    checks.push(warn(check, evidence, isRemoved ? undefined : `leads config set api.params.${filter} null`));
}

/** The texts that this field holds in the leads, the most frequent first. */
function valuesOf(leads: readonly SeenLead[], field: string): string[] {
  const counts = new Map<string, number>();
  for (const { record } of leads) {
    const value = fieldAt(record, field.split('.'));
    if (typeof value === 'string' && value !== '') counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts].toSorted((a, b) => b[1] - a[1]).map(([value]) => value);
}

/** A field with more values than these is no status. */
const mostStatuses = 20;

/** The field that most likely holds the delivery status of the leads: one that differs, where there is one. */
function statusFieldOf(leads: readonly SeenLead[], configured: string): string {
  const present = new Set(leads.flatMap(({ record }) => (isObject(record) ? Object.keys(record) : [])));
  const likely = [
    configured,
    ...names.statusFields,
    ...[...present].filter((name) => /status|state/i.test(name)),
  ];
  const count = (name: string): number => valuesOf(leads, name).length;
  const usable = likely.filter((name) => count(name) > 0 && count(name) <= mostStatuses);
  return usable.find((name) => count(name) > 1) ?? usable[0] ?? 'status';
}

const fieldTrials = (search: FilterSearch, field: string): Trial[] =>
  valuesOf(search.leads, field).flatMap((text) => {
    const selects = ({ record }: SeenLead): boolean => fieldAt(record, field.split('.')) === text;
    return selectionTrial(search, text, `the leads with ${field} '${text}'`, selects);
  });

/** A bound is put in the middle between two leads, where they are this far apart: a service may count in whole seconds. */
const leastGapMs = 3000;

function timeTrials(
  search: FilterSearch,
  bound: 'since' | 'until',
  format: Parameters<typeof timeText>[1],
): Trial[] {
  const times = search.leads.flatMap(({ createdAt }) => createdAt ?? []).toSorted((a, b) => a - b);
  const description = bound === 'since' ? 'the leads from then on' : 'the leads before';
  return times.slice(1).flatMap((later, i) => {
    const earlier = times[i] ?? later;
    const time = Math.floor((later + earlier) / 2);
    const selects = ({ createdAt = Number.NaN }: SeenLead): boolean =>
      bound === 'since' ? createdAt >= time : createdAt < time;
    return later - earlier < leastGapMs
      ? []
      : selectionTrial(search, timeText(time, format), description, selects);
  });
}

/** A trial that selects some leads; none where the first page would look the same, so that its answer would show nothing. */
function selectionTrial(
  { leads: all, pageSize }: FilterSearch,
  text: string,
  description: string,
  selects: (lead: SeenLead) => boolean,
): Trial[] {
  const expected = keysOf(all.filter(selects).slice(0, pageSize));
  if (expected.length === 0 || all.slice(0, pageSize).every(selects)) return [];
  const fits = (leads: readonly SeenLead[]): boolean => {
    const keys = new Set(keysOf(leads));
    return leads.every(selects) && expected.every((key) => keys.has(key));
  };
  return [{ text, fits, expected, description: `${description} and no other` }];
}
