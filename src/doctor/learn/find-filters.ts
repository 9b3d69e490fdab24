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
  /** So many of them are on the first page, and what that is asked for with. */
  readonly pageSize: number;
  readonly query: Query;
}

/** Finds which filters are honoured, and by which names. */
export async function findFilters(search: FilterSearch): Promise<void> {
  const { examination, known } = search;
  const { dialect } = examination.asker;
  const field = statusFieldOf(known, dialect.statusField ?? 'status');
  // By which field a status filter goes is the service's to know: no lead is sure to come.
  const statuses = fieldTrials(search, field).map((trial) => ({ ...trial, expected: [] }));
  const status = await findFilter(search, 'status', [...statusParams, field], [statuses]);
  if (status.effect === 'honoured') learn(examination, 'status-field', field, status.evidence);
  await findFilter(search, 'category', categoryParams, [fieldTrials(search, 'category')]);
  const inForce = dialect.dateFormat ?? 'iso';
  const formats = examination.isLearning
    ? [...new Set([inForce, 'iso', 'unix', 'unix-ms'] as const)]
    : [inForce];
  const times = (bound: 'since' | 'until') => formats.map((format) => timeTrials(search, bound, format));
  const since = await findFilter(
    search,
    'since',
    timeParams.map(([name]) => name),
    times('since'),
  );
  const format = formats[since.nth];
  if (since.effect === 'honoured' && format !== inForce)
    learn(examination, 'date-format', format, since.evidence);
  const isPartner = ([name]: (typeof timeParams)[number]): boolean => name === since.name;
  const pairs = timeParams.toSorted((a, b) => Number(isPartner(b)) - Number(isPartner(a)));
  await findFilter(
    search,
    'until',
    pairs.map(([, name]) => name),
    times('until').slice(since.nth, since.nth + 1),
  );
}

/** Names that services also give to positions: such a parameter may move the list instead of narrowing it. */
const positionNames = [...numberParams.page.usual, ...numberParams.offset.usual, ...cursorParams];

/** Tries the names with one form of values after the other until one is honoured; `nth` is the form. Reports what came out. */
async function findFilter(
  { examination, known, pageSize, query }: FilterSearch,
  filter: FilterName,
  usual: readonly string[],
  forms: readonly (readonly Trial[])[],
): Promise<NameFinding & { readonly nth: number }> {
  const { asker, isLearning } = examination;
  const inForce = asker.params[filter];
  const others = isLearning ? usual.filter((name) => !positionNames.includes(name)) : [];
  const names = [...new Set([...(inForce === undefined ? [] : [inForce]), ...others])];
  const without = known.slice(0, pageSize);
  let finding: NameFinding = { effect: 'unknown', name: '', evidence: 'no parameter is set for it' };
  let nth = 0;
  for (const [form, trials] of names.length === 0 ? [] : forms.entries()) {
    const found = await findName({ asker, query, without, trials }, names);
    if (form === 0 || found.effect === 'honoured') [finding, nth] = [found, form];
    if (found.effect !== 'ignored' || asker.isStrict) break;
  }
  reportFilter(examination, filter, inForce, finding);
  return { ...finding, nth };
}

function reportFilter(
  examination: Examination,
  filter: FilterName,
  inForce: string | undefined,
  { effect, name, evidence }: NameFinding,
): void {
  const { checks, isLearning } = examination;
  const check = `dialect.${filter}`;
  const narrows = filter === 'status' ? '' : ', so leads narrows here';
  // What fails every request, or leaves out the leads that are asked for, must not be sent.
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
const mostBounds = 32;

/** Moments between leads. */
function timeTrials(
  search: FilterSearch,
  bound: 'since' | 'until',
  format: Parameters<typeof timeText>[1],
): Trial[] {
  const times = [...new Set(search.known.flatMap(({ createdAt }) => createdAt ?? []))].toSorted(
    (a, b) => a - b,
  );
  const bounds = times.slice(1).flatMap((time, i) => {
    const before = times[i] ?? time;
    return time - before < apart ? [] : [Math.floor((time + before) / 2)];
  });
  const wanted = bound === 'since' ? 'the leads from then on' : 'the leads before';
  const trials = bounds.flatMap((time) => {
    const selects = ({ createdAt = Number.NaN }: SeenLead): boolean =>
      bound === 'since' ? createdAt >= time : createdAt < time;
    return selection(search, timeText(time, format), wanted, selects);
  });
  const step = Math.ceil(trials.length / mostBounds);
  return trials.filter((_, i) => i % step === 0);
}

/** A filter that leaves the first page as it is does not show. */
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
