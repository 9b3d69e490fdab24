import type { Dialect } from '../../config/dialect.ts';
import { fieldAt } from '../../lead/raw-lead.ts';
import {
  categoryParams,
  cursorParams,
  numberParams,
  statusParams,
  timeParams,
} from '../../service/pagers/names.ts';
import { timeText } from '../../service/pagers/position.ts';
import type { DialectEvidence, Selection } from '../problems.ts';
import type { Seen } from './asker.ts';
import { findName, isPlain } from './find-name.ts';
import { isRefused, type ListSearch, noRequest, refusalOf } from './report.ts';
import {
  effectOf,
  type Effect,
  type LeadTest,
  type SeenLead,
  statusFieldsOf,
  valuesOf,
} from './seen-leads.ts';

type DateFormat = NonNullable<Dialect['dateFormat']>;
type FilterName = 'status' | 'category' | 'since' | 'until';

/** What a parameter did that should filter. */
export interface FilterFinding {
  readonly effect: Effect | 'rejected' | 'unknown';
  readonly name: string;
  readonly evidence: DialectEvidence;
}

/** A value of a filter, and the leads that it should leave. */
interface FilterValue {
  readonly text: string;
  readonly selects: LeadTest;
  readonly leads: Selection;
}

/** Names that are tried one by one where a service does not ignore what it does not know. */
const mostAlone = 3;

const unknown = (evidence: DialectEvidence): FilterFinding => ({ effect: 'unknown', name: '', evidence });

/** Finds the parameter that narrows the list; the first one of `values` is what a name is tried with alone. */
async function findFilter(
  search: ListSearch,
  names: readonly string[],
  values: readonly FilterValue[],
): Promise<FilterFinding> {
  const { asker, list, query, ignoresUnknown } = search;
  const firstPage = list.leads.slice(0, list.capacity);
  // A filter that leaves the first page as it is does not show.
  const telling = values.filter(({ selects }) => !firstPage.every(selects));
  const [value] = telling;
  const [name] = names;
  if (name === undefined) return unknown({ kind: 'no-parameter' });
  if (value === undefined) return unknown({ kind: 'leads-alike' });
  if (ignoresUnknown && names.length > 1) {
    const found = await findName(names, telling, async (sent) => {
      const sending = Object.fromEntries([...sent].map(([one, { text }]) => [one, text]));
      const seen = await asker.ask({ ...query, ...sending });
      if (seen.kind !== 'page') return seen.kind === 'unasked' ? 'unasked' : 'unclear';
      const counting = telling.find(({ selects }) => effectOf(seen.leads, list, selects) === 'honoured');
      if (counting !== undefined) return { value: counting };
      return effectOf(seen.leads, list, value.selects) === 'ignored' ? 'nothing' : 'unclear';
    });
    if (typeof found === 'object') return honoured(found.name, found.value);
    if (found === 'unasked') return unknown(noRequest);
    const evidence = { kind: 'no-effect-of-names', count: names.length, name } as const;
    if (found === 'nothing') return { effect: 'ignored', name, evidence };
  }
  let first: FilterFinding | undefined;
  for (const alone of names.slice(0, ignoresUnknown ? 1 : mostAlone)) {
    const seen = await asker.ask({ ...query, [alone]: value.text });
    const finding = judge(search, seen, alone, value);
    if (finding.effect === 'honoured') return finding;
    first ??= finding;
  }
  return first ?? unknown(noRequest);
}

function judge(
  { list }: ListSearch,
  seen: Seen,
  name: string,
  { text, selects, leads: wanted }: FilterValue,
): FilterFinding {
  const asked = `${name}=${text}`;
  if (seen.kind === 'unasked') return unknown(noRequest);
  if (seen.kind === 'rejected') {
    const effect = isRefused(seen) ? 'rejected' : 'unknown';
    return { effect, name, evidence: refusalOf(asked, seen) };
  }
  const effect = effectOf(seen.leads, list, selects);
  const { count } = seen;
  switch (effect) {
    case 'honoured':
      return honoured(name, { text, leads: wanted });
    case 'ignored':
      return { effect, name, evidence: { kind: 'no-effect-of-names', count: 1, name } };
    case 'others':
      return { effect, name, evidence: { kind: 'brought-others', asked, count } };
    default:
      return { effect, name, evidence: { kind: 'brought-other-selection', asked, count, wanted } };
  }
}

const honoured = (name: string, { text, leads }: Pick<FilterValue, 'text' | 'leads'>): FilterFinding => ({
  ...{ effect: 'honoured', name },
  evidence: { kind: 'brought-selection', asked: `${name}=${text}`, wanted: leads },
});

/** Finds which filters are honoured, and by which names. */
export async function findFilters(search: ListSearch): Promise<Readonly<Record<FilterName, FilterFinding>>> {
  const { asker, report, list, isLearning } = search;
  const { params, dialect } = asker;
  // A filter must not take the place of a position.
  const taken = new Set([params.limit, params.page, params.offset, params.cursor]);
  const namesBy = (inForce: string | undefined, usual: readonly string[]): string[] =>
    [...new Set([inForce, ...(isLearning ? usual : [])])].filter(
      (name) => name !== undefined && !taken.has(name),
    ) as string[];
  const fields = statusFieldsOf(list.leads, dialect.statusField ?? 'status');
  const field = (fields.find(({ values }) => values.length > 1) ?? fields[0])?.name;
  const statusNames = namesBy(params.status, field === undefined ? statusParams : [...statusParams, field]);
  const status = await findFilter(search, statusNames, fieldValues(list.leads, field ?? 'status'));
  const categories = fieldValues(list.leads, 'category');
  const category = await findFilter(search, namesBy(params.category, categoryParams), categories);
  const inForce = dialect.dateFormat ?? 'iso';
  const formats = isLearning ? [...new Set([inForce, 'iso', 'unix', 'unix-ms'] as const)] : [inForce];
  const sinceNames = namesBy(
    params.since,
    timeParams.map(([name]) => name),
  );
  const [since, format] = await findTime(search, 'since', sinceNames, formats);
  const partner = timeParams.find(([name]) => since.effect === 'honoured' && name === since.name)?.[1];
  const likely = namesBy(params.until, [])
    .concat(partner ?? [])
    .slice(-1);
  let [until] = await findTime(search, 'until', likely, [format]);
  if (until.effect !== 'honoured' && isLearning) {
    const others = namesBy(
      params.until,
      timeParams.map(([, name]) => name),
    );
    [until] = await findTime(search, 'until', others, [format]);
  }
  const findings = { status, category, since, until };
  for (const name of ['status', 'category', 'since', 'until'] as const)
    reportFilter(search, name, params[name], findings[name]);
  if (status.effect === 'honoured') report.learn('status-field', field, status.evidence);
  if (since.effect === 'honoured' && format !== inForce) report.learn('date-format', format, since.evidence);
  const [one, two, ...rest] = fields;
  if (one === undefined) report.add('status-field', 'skip', { kind: 'status-unseen' });
  else if (two === undefined) report.add('status-field', 'pass', { kind: 'status-field', field: one });
  else report.add('status-field', 'warn', { kind: 'two-status-fields', fields: [one, two, ...rest] });
  return findings;
}

const fieldValues = (leads: readonly SeenLead[], field: string): FilterValue[] =>
  valuesOf(leads, field).map((text) => ({
    text,
    selects: ({ record }) => fieldAt(record, field.split('.')) === text,
    leads: { kind: 'leads-of-field', field, text },
  }));

/** Names that services also give to positions: one of these may move the list instead. */
const positionNames = new Set([...numberParams.page.usual, ...numberParams.offset.usual, ...cursorParams]);

/** Finds the parameter that leaves out the leads before a time, or from a time on. */
async function findTime(
  search: ListSearch,
  bound: 'since' | 'until',
  names: readonly string[],
  formats: readonly DateFormat[],
): Promise<readonly [FilterFinding, DateFormat]> {
  const [usual = 'iso', ...others] = formats;
  const times = boundsBetween(search.list.leads);
  if (times.length < 2) return [unknown({ kind: 'times-alike' }), usual];
  const isSafe = (name: string): boolean => name === names[0] || !positionNames.has(name);
  const [safe, unsafe] = [names.filter(isSafe), names.filter((name) => !isSafe(name))];
  const isBatched = search.ignoresUnknown && names.length > 1;
  const attempts: (readonly [DateFormat, readonly string[]])[] = isBatched
    ? [[usual, safe], ...others.map((format) => [format, safe.filter(isPlain)] as const), [usual, unsafe]]
    : [[usual, names]];
  let first: FilterFinding | undefined;
  for (const [format, group] of attempts) {
    const values = times.map((time) => timeValue(time, bound, format));
    let found = await findFilter(search, group, values);
    // Alone, and at another time: what the others do beside it does not count.
    if (found.effect === 'honoured' && isBatched)
      found = await findFilter(search, [found.name], values.slice(1));
    if (found.effect === 'honoured') return [found, format];
    first ??= found;
  }
  return [first ?? unknown(noRequest), usual];
}

const timeValue = (time: number, bound: 'since' | 'until', format: DateFormat): FilterValue => ({
  text: timeText(time, format),
  selects: ({ createdAt = Number.NaN }) => (bound === 'since' ? createdAt >= time : createdAt < time),
  leads: { kind: `leads-${bound}` },
});

/** Times between which a bound is put lie further apart, so that a service may count in whole seconds; ms. */
const apart = 3000;

/** Moments between leads, each of which leaves some of them on either side; ms, at most 32, the middle one first. */
function boundsBetween(leads: readonly SeenLead[]): number[] {
  const times = [...new Set(leads.flatMap(({ createdAt }) => createdAt ?? []))].toSorted((a, b) => a - b);
  const between = times.slice(1).flatMap((time, i) => {
    const before = times[i] ?? time;
    return time - before < apart ? [] : [Math.floor((time + before) / 2)];
  });
  const step = Math.max(1, between.length / 32);
  const bounds = between.filter((_, i) => Math.floor(i / step) > Math.floor((i - 1) / step));
  const [middle = 0] = bounds.splice(Math.floor(bounds.length / 2), 1);
  return bounds.length === 0 ? [] : [middle, ...bounds];
}

function reportFilter(
  { report, isLearning }: ListSearch,
  name: FilterName,
  inForce: string | undefined,
  finding: FilterFinding,
): void {
  const { effect, evidence } = finding;
  if (effect === 'honoured') report.learn(`params.${name}`, finding.name, evidence);
  // A parameter that fails every request must not be sent, nor one that leaves out the leads that are asked for.
  // By which field a status filter goes is the service's to know.
  const isHarmful = effect === 'rejected' || (effect === 'lossy' && name !== 'status');
  if (isHarmful && finding.name === inForce) report.learn(`params.${name}`, null, evidence);
  const add = report.add.bind(report, name);
  if (effect === 'honoured') add('pass', evidence);
  else if (effect === 'unknown') add('skip', evidence);
  else if (effect === 'others') add('warn', { kind: 'filter-unused', evidence });
  // What is not sent does no harm: times are held against each lead here.
  else if (inForce === undefined) add('skip', { kind: 'filter-unknown', evidence });
  else if (effect === 'ignored') add('warn', { kind: 'filter-ignored', name, evidence, isLearning });
  else add('warn', isLearning && isHarmful ? evidence : { kind: 'filter-harmful', name, evidence });
}
