import type { Dialect } from '../../config/dialect.ts';
import { timeText } from '../../service/pagers/position.ts';
import { cursorParams, numberParams } from '../../service/pagers/names.ts';
import { type FilterFinding, type FilterSearch, type FilterValue, findFilter } from './find-filter.ts';
import { noRequestLeft } from './find-limit.ts';
import type { SeenLead } from './seen-page.ts';

export type DateFormat = NonNullable<Dialect['dateFormat']>;
type Bound = 'since' | 'until';

export type TimeFilterFinding = FilterFinding & { readonly format?: DateFormat };

/** Times between which a bound is put lie further apart, so that a service may count in whole seconds; ms. */
const apart = 3000;

/** Names that services also give to positions. */
const positions: ReadonlySet<string> = new Set([
  ...numberParams.page.usual,
  ...numberParams.offset.usual,
  ...cursorParams,
]);

/** Finds the parameter that leaves out the leads before a time, or from a time on; `formats` are tried in this order. */
export async function findTimeFilter(
  search: FilterSearch,
  bound: Bound,
  formats: readonly DateFormat[],
): Promise<TimeFilterFinding> {
  const { reaction, list, names } = search;
  if (names.length === 0) return { kind: 'unknown', why: { kind: 'no-parameter' } };
  const times = boundsBetween(list.leads);
  if (times.length < 2) return { kind: 'unknown', why: { kind: 'times-alike' } };
  const isNarrowed = reaction === 'ignores' && names.length > 1;
  // A name that also stands for a position may move the list instead; the one in force comes first in any case.
  const isSafe = (name: string): boolean => name === names[0] || !positions.has(name);
  const safe = names.filter(isSafe);
  const groups = isNarrowed ? [safe, names.filter((name) => !isSafe(name))] : [names];
  let first: TimeFilterFinding | undefined;
  for (const [i, format] of formats.entries()) {
    // Another form of the time is worth a request for the likeliest names only.
    for (const group of i === 0 ? groups : [isNarrowed ? safe : names.slice(0, 1)]) {
      if (group.length === 0) continue;
      const values = times.map((time) => valueAt(time, bound, format));
      let found = await findFilter({ ...search, names: group }, values);
      // Alone, and at another time: what the others do beside it does not count.
      if (found.kind === 'honoured' && isNarrowed)
        found = await findFilter({ ...search, names: [found.name] }, values.slice(1));
      if (found.kind === 'honoured') return { ...found, format };
      first ??= found;
    }
  }
  return first ?? { kind: 'unknown', why: noRequestLeft };
}

const valueAt = (time: number, bound: Bound, format: DateFormat): FilterValue => ({
  text: timeText(time, format),
  selects: ({ createdAt }) =>
    createdAt !== undefined && (bound === 'since' ? createdAt >= time : createdAt < time),
  leads: { kind: `leads-${bound}` },
});

/** Moments between leads, each of which leaves some of them on either side; ms, at most 32, the middle one first. */
function boundsBetween(leads: readonly SeenLead[]): number[] {
  const times = [...new Set(leads.flatMap(({ createdAt }) => createdAt ?? []))].toSorted((a, b) => a - b);
  const between = times.flatMap((time, i) => {
    const before = times[i - 1];
    return before === undefined || time - before < apart ? [] : [Math.floor((time + before) / 2)];
  });
  const step = Math.max(1, between.length / 32);
  const bounds = Array.from(
    { length: Math.min(32, between.length) },
    (_, i) => between[Math.floor(i * step)] ?? 0,
  );
  const middle = Math.floor(bounds.length / 2);
  return [...bounds.slice(middle, middle + 1), ...bounds.slice(0, middle), ...bounds.slice(middle + 1)];
}
