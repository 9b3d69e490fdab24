import type { WireRow, WireVerdict } from '../../wire.ts';

/** Half-open: since <= receivedAt < until; ms since the epoch. */
export interface ListFilter {
  /** None: all of them. */
  readonly verdicts: readonly WireVerdict[];
  readonly since: number | null;
  readonly until: number | null;
}

export const noFilter: ListFilter = { verdicts: [], since: null, until: null };

export const isFiltered = ({ verdicts, since, until }: ListFilter): boolean =>
  verdicts.length > 0 || since !== null || until !== null;

/** What the server does with the deliveries that it has, for those that arrive. */
export function matches({ verdicts, since, until }: ListFilter, row: WireRow): boolean {
  if (verdicts.length > 0 && !verdicts.includes(row.verdict)) return false;
  return (since === null || row.receivedAt >= since) && (until === null || row.receivedAt < until);
}

/** As the parameters of a request, with others before them; absent ones are null. */
export function queryOf(filter: ListFilter, others: Record<string, string | number | null>): string {
  const query = new URLSearchParams();
  const { verdicts, since, until } = filter;
  for (const [name, value] of Object.entries({ ...others, since, until })) {
    if (value !== null) query.set(name, String(value));
  }
  for (const verdict of verdicts) query.append('verdict', verdict);
  return query.toString();
}
