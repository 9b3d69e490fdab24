import { fieldAt } from '../../lead/raw-lead.ts';
import {
  categoryParams,
  cursorParams,
  numberParams,
  statusParams,
  timeParams,
} from '../../service/pagers/names.ts';
import { timeText } from '../../service/pagers/position.ts';
import { pass, skip, warn } from '../check-result.ts';
import { type Examination, learn, type Query } from './asker.ts';
import { findName, type NameFinding, type Trial } from './find-name.ts';
import { keysOf, type SeenLead, statusFieldOf, valuesOf } from './seen-leads.ts';

type FilterName = 'status' | 'category' | 'since' | 'until';

/** The beginning of the list, which filters should narrow. */
export interface FilterSearch {
  readonly examination: Examination;
  readonly known: readonly SeenLead[];
  /** The first page has so many of them, and is asked for with this query. */
  readonly pageSize: number;
  readonly query: Query;
}

/** Finds which filters are honoured, and by which names. */
export async function findFilters(search: FilterSearch): Promise<void> {
  const { examination, known } = search;
  const { isLearning, asker } = examination;
  const { statusField = 'status', dateFormat = 'iso' } = asker.dialect;
  const field = statusFieldOf(known, statusField);
  // The service decides by which field a status filter goes: no lead is sure to come.
  const statuses = fieldTrials(search, field).map((trial) => ({ ...trial, expected: [] }));
  const status = await findFilter(search, 'status', [...statusParams, field], statuses);
  report(search, 'status', status);
  if (status.effect === 'honoured') learn(examination, 'status-field', field, status.evidence);
  const categories = fieldTrials(search, 'category');
  report(search, 'category', await findFilter(search, 'category', categoryParams, categories));
  const formats = isLearning ? [...new Set([dateFormat, 'iso', 'unix', 'unix-ms'] as const)] : [dateFormat];
  const starts = timeParams.map(([name]) => name);
  let since = await findFilter(search, 'since', starts, timeTrials(search, 'since', dateFormat));
  let format = dateFormat;
  for (const other of formats.slice(1)) {
    if (since.effect !== 'ignored' || asker.isStrict) break;
    format = other;
    since = await findFilter(search, 'since', starts, timeTrials(search, 'since', other));
  }
  report(search, 'since', since);
  const isHonoured = since.effect === 'honoured';
  if (isHonoured && format !== dateFormat) learn(examination, 'date-format', format, since.evidence);
  const isPartner = ([name]: (typeof timeParams)[number]): boolean => name === since.name;
  const ends = timeParams
    .toSorted((a, b) => Number(isPartner(b)) - Number(isPartner(a)))
    .map(([, end]) => end);
  const bounds = timeTrials(search, 'until', isHonoured ? format : dateFormat);
  report(search, 'until', await findFilter(search, 'until', ends, bounds));
}

/** Services also give these names to positions: such a parameter may move the list instead of narrowing it. */
const positionNames = [...numberParams.page.usual, ...numberParams.offset.usual, ...cursorParams];

async function findFilter(
  { examination: { asker, isLearning }, known, pageSize, query }: FilterSearch,
  filter: FilterName,
  usual: readonly string[],
  trials: readonly Trial[],
): Promise<NameFinding> {
  const inForce = asker.params[filter];
  const others = isLearning ? usual.filter((name) => !positionNames.includes(name)) : [];
  const names = [...new Set([...(inForce === undefined ? [] : [inForce]), ...others])];
  if (names.length === 0) return { effect: 'unknown', name: '', evidence: 'no parameter is set for it' };
  return findName({ asker, query, without: known.slice(0, pageSize), trials }, names);
}

function report(
  { examination }: FilterSearch,
  filter: FilterName,
  { effect, name, evidence }: NameFinding,
): void {
  const { checks, isLearning, asker } = examination;
  const inForce = asker.params[filter];
  const check = `dialect.${filter}`;
  const narrows = filter === 'status' ? '' : ', so leads narrows here';
  // A parameter must not be sent that fails every request, or leaves out the leads that are asked for.
  const isRemoved = isLearning && effect === 'harmful' && name === inForce;
  if (effect === 'honoured' || isRemoved)
    learn(examination, `params.${filter}`, isRemoved ? null : name, evidence);
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

/** Values of a field that select some of the leads. */
const fieldTrials = (search: FilterSearch, field: string): Trial[] =>
  valuesOf(search.known, field).flatMap((text) => {
    const selects = ({ record }: SeenLead): boolean => fieldAt(record, field.split('.')) === text;
    return selection(search, text, `the leads with ${field} '${text}'`, selects);
  });

/** Leads between which a bound is put were created further apart: a service may count in whole seconds; ms. */
const apart = 3000;

/** Moments between leads. */
function timeTrials(
  search: FilterSearch,
  bound: 'since' | 'until',
  format: Parameters<typeof timeText>[1],
): Trial[] {
  const times = search.known.flatMap(({ createdAt }) => createdAt ?? []).toSorted((a, b) => a - b);
  const bounds = times.slice(1).flatMap((time, i) => {
    const before = times[i] ?? time;
    return time - before < apart ? [] : [Math.floor((time + before) / 2)];
  });
  const wanted = bound === 'since' ? 'the leads from then on' : 'the leads before';
  return bounds.flatMap((time) => {
    const selects = ({ createdAt = Number.NaN }: SeenLead): boolean =>
      bound === 'since' ? createdAt >= time : createdAt < time;
    return selection(search, timeText(time, format), wanted, selects);
  });
}

/** A filter does not show that leaves the first page as it is. */
function selection(
  { known, pageSize }: FilterSearch,
  text: string,
  what: string,
  selects: (lead: SeenLead) => boolean,
): Trial[] {
  const expected = keysOf(known.filter(selects).slice(0, pageSize));
  if (expected.length === 0 || known.slice(0, pageSize).every(selects)) return [];
  const fits = (leads: readonly SeenLead[]): boolean => {
    const keys = new Set(keysOf(leads));
    return leads.every(selects) && expected.every((key) => keys.has(key));
  };
  return [{ text, fits, expected, wanted: `${what} and no other` }];
}
