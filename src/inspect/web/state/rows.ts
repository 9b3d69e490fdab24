import { listFilters, type WireListFilter, type WirePage } from '../../wire.ts';

/** Half-open: since <= receivedAt < until; ms since the epoch. */
export interface ListFilter {
  /** None: all of them. */
  readonly verdicts: readonly WireListFilter[];
  /** So many ms before it was chosen: what `since` was made of; null: it was chosen itself. */
  readonly last: number | null;
  readonly since: number | null;
  readonly until: number | null;
  /** Words of the id, the name, the category or the reason. */
  readonly text: string;
}

export const noFilter: ListFilter = { verdicts: [], last: null, since: null, until: null, text: '' };

export const isFiltered = ({ verdicts, since, until, text }: ListFilter): boolean =>
  verdicts.length > 0 || since !== null || until !== null || text !== '';

/**
 * As the address has it: a window that ends now is one again when it is opened later. The words are a person's data, and never
 * there.
 */
export function addressOf({ verdicts, last, since, until }: ListFilter): string {
  const query = new URLSearchParams(verdicts.map((verdict): [string, string] => ['verdict', verdict]));
  if (last !== null) query.set('last', String(last));
  else if (since !== null) query.set('since', String(since));
  if (until !== null) query.set('until', String(until));
  return query.toString();
}

/** What is no filter is left out: an address is typed and sent by anybody. */
export function filterIn(address: string, text: string): ListFilter {
  const query = new URLSearchParams(address);
  const number = (name: string): number | null => {
    const digits = query.get(name) ?? '';
    return /^\d{1,15}$/.test(digits) ? Number(digits) : null;
  };
  const last = number('last');
  const since = last === null ? number('since') : Date.now() - last;
  const asked = query.getAll('verdict');
  return {
    verdicts: listFilters.filter((one) => asked.includes(one)),
    last,
    since,
    until: number('until'),
    text,
  };
}

/** As the parameters of a request, with others before them; absent ones are null. */
export function queryOf(filter: ListFilter, others: Record<string, string | number | null>): string {
  const query = new URLSearchParams();
  const { verdicts, since, until, text } = filter;
  for (const [name, value] of Object.entries({ ...others, since, until, text: text === '' ? null : text })) {
    if (value !== null) query.set(name, String(value));
  }
  for (const verdict of verdicts) query.append('verdict', verdict);
  return query.toString();
}

/**
 * Rows with a page that was read again in their place. `before`: where it begins; infinite: with the newest one. What is older is
 * dropped where something may be missing between it and the page.
 */
export function withPage({ rows, next }: WirePage, before: number, page: WirePage): WirePage {
  const end = page.next;
  const newer = rows.filter(({ seq }) => seq >= before);
  const isConnected = rows.some(({ seq }) => end !== null && seq >= end && seq < before);
  if (end === null || !isConnected) return { rows: [...newer, ...page.rows], next: end };
  const older = rows.filter(({ seq }) => seq < end);
  return { rows: [...newer, ...page.rows, ...older], next: next === null ? null : Math.min(next, end) };
}

export function keepNewest({ rows, next }: WirePage, most: number): WirePage {
  if (rows.length <= most) return { rows, next };
  const kept = rows.slice(0, most);
  return { rows: kept, next: kept.at(-1)?.seq ?? null };
}
