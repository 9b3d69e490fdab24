import type { Dialect } from '../../config/dialect.ts';
import type { Query } from './limited-requests.ts';
import type { FilterFinding, FilterSearch } from './find-filter.ts';
import { noRequestLeft } from './find-limit.ts';
import { narrowNames, type Shown } from './find-honoured-name.ts';
import { cursorParams, numberParams } from '../../service/pagination/service-names.ts';
import { isLoss, isSelection, isUnfiltered, type SeenLead } from './seen-page.ts';

export type DateFormat = NonNullable<Dialect['dateFormat']>;

export interface TimeFilterSearch extends Omit<FilterSearch, 'field' | 'what'> {
  readonly bound: 'since' | 'until';
  /** Forms of a time to try, in this order. */
  readonly formats: readonly DateFormat[];
}

export type TimeFilterFinding = FilterFinding & { readonly format?: DateFormat };

/** Tried one by one where a service does not ignore what it does not know. */
const mostAlone = 3;

/** Times between which a bound is put lie further apart, so that a service may count in whole seconds; ms. */
const apart = 3000;

/** Finds the parameter that leaves out the leads before a time, or from a time on. */
export async function findTimeFilter(search: TimeFilterSearch): Promise<TimeFilterFinding> {
  const { reaction, reference, names, formats } = search;
  if (names.length === 0) return { kind: 'unknown', why: 'no parameter is set for it' };
  const times = boundsBetween(reference.page.leads);
  if (times.length < 2) return { kind: 'unknown', why: 'the leads differ too little in their time' };
  const isNarrowed = reaction === 'ignores' && names.length > 1;
  const [likeliest] = names;
  // A name that also stands for a position may move the list instead; the one in force comes first in any case.
  const isSafe = (name: string): boolean => name === likeliest || !positions.has(name);
  const [safe, risky] = [names.filter(isSafe), names.filter((name) => !isSafe(name))];
  let last: TimeFilterFinding | undefined;
  for (const [i, format] of formats.entries()) {
    // Another form of the time is worth a request for the likeliest name only, where each name takes one.
    const few = names.slice(0, i === 0 ? mostAlone : 1);
    const found = isNarrowed
      ? await narrowTimes(search, times, safe, format)
      : await tryEach(search, times, few, format);
    if (found.kind === 'honoured') return { ...found, format };
    last ??= found;
    if (i > 0 || !isNarrowed || risky.length === 0) continue;
    const other = await narrowTimes(search, times, risky, format);
    if (other.kind === 'honoured') return { ...other, format };
  }
  return last ?? { kind: 'unknown', why: noRequestLeft };
}

async function tryEach(
  search: TimeFilterSearch,
  times: readonly number[],
  names: readonly string[],
  format: DateFormat,
): Promise<FilterFinding> {
  let last: FilterFinding | undefined;
  for (const name of names) {
    const found = await tryOne(search, times[Math.floor(times.length / 2)] ?? 0, name, format);
    if (found.kind === 'honoured') return found;
    last ??= found;
    if (found.kind === 'unknown') break;
  }
  return last ?? { kind: 'unknown', why: noRequestLeft };
}

async function narrowTimes(
  search: TimeFilterSearch,
  times: readonly number[],
  names: readonly string[],
  format: DateFormat,
): Promise<FilterFinding> {
  const { asker, reference, bound } = search;
  const { page, query } = reference;
  const [name = ''] = names;
  const found = await narrowNames(
    names,
    times,
    async (sent): Promise<Shown<number>> => {
      const added: Query = Object.fromEntries([...sent].map(([one, time]) => [one, timeText(time, format)]));
      const seen = await asker.ask({ ...query, ...added });
      if (seen.kind === 'unasked') return seen;
      if (seen.kind === 'rejected' || seen.count === 0) return { kind: 'unclear' };
      const value = times.find((time) => isSelection(seen.leads, page.leads, insideOf(time, bound)));
      if (value !== undefined) return { kind: 'value', value };
      return isUnfiltered(seen.leads, page.leads) ? { kind: 'nothing' } : { kind: 'unclear' };
    },
    asker,
  );
  if (found.kind === 'unasked') return { kind: 'unknown', why: noRequestLeft };
  if (found.kind === 'nothing') {
    return { kind: 'ignored', name, evidence: `${names.length} names changed nothing, ${name} among them` };
  }
  // The others beside it may have spoiled the answer.
  if (found.kind === 'unclear') return tryOne(search, times[Math.floor(times.length / 2)] ?? 0, name, format);
  // Alone, and at another time: what the others do beside it does not count.
  const other = times[times.indexOf(found.value) < times.length / 2 ? times.length - 1 : 0] ?? 0;
  return tryOne(search, other, found.name, format);
}

/** Names that services also give to positions. */
const positions: ReadonlySet<string> = new Set([
  ...numberParams.page.usual,
  ...numberParams.offset.usual,
  ...cursorParams,
]);

async function tryOne(
  { asker, reference: { page, query }, bound }: TimeFilterSearch,
  time: number,
  name: string,
  format: DateFormat,
): Promise<FilterFinding> {
  const asked = `${name}=${timeText(time, format)}`;
  const seen = await asker.ask({ ...query, [name]: timeText(time, format) });
  if (seen.kind === 'unasked') return { kind: 'unknown', why: noRequestLeft };
  if (seen.kind === 'rejected' && (seen.status ?? 0) >= 500)
    return { kind: 'unknown', why: `${asked} was answered ${seen.status}` };
  if (seen.kind === 'rejected')
    return { kind: 'rejected', name, evidence: `${asked} was rejected (${seen.status ?? seen.message})` };
  const words = bound === 'since' ? 'from then on' : 'before';
  if (isSelection(seen.leads, page.leads, insideOf(time, bound)))
    return { kind: 'honoured', name, evidence: `${asked} brought the leads ${words} and no other` };
  if (isUnfiltered(seen.leads, page.leads))
    return { kind: 'ignored', name, evidence: `${asked} changed nothing` };
  const isLossy = isLoss(seen.leads, page.leads, insideOf(time, bound));
  return {
    kind: 'wrong',
    name,
    isLossy,
    evidence: `${asked} brought ${seen.count} leads, not those ${words}`,
  };
}

const insideOf =
  (time: number, bound: 'since' | 'until') =>
  ({ createdAt }: SeenLead): boolean =>
    createdAt !== undefined && (bound === 'since' ? createdAt >= time : createdAt < time);

function timeText(ms: number, format: DateFormat): string {
  if (format === 'iso') return new Date(ms).toISOString();
  return String(format === 'unix' ? Math.floor(ms / 1000) : ms);
}

/** Moments between leads, each of which leaves some of them on either side; ms, at most 32 of them. */
function boundsBetween(leads: readonly SeenLead[]): number[] {
  const times = [...new Set(leads.flatMap(({ createdAt }) => createdAt ?? []))].toSorted((a, b) => a - b);
  const between = times.flatMap((time, i) => {
    const before = times[i - 1];
    return before === undefined || time - before < apart ? [] : [Math.floor((time + before) / 2)];
  });
  const step = Math.max(1, between.length / 32);
  return Array.from({ length: Math.min(32, between.length) }, (_, i) => between[Math.floor(i * step)] ?? 0);
}
