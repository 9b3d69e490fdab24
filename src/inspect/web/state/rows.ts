import { verdicts, type WireRow, type WireVerdict } from '../../wire.ts';

/** Half-open: since <= receivedAt < until; ms since the epoch. */
export interface ListFilter {
  /** None: all of them. */
  readonly verdicts: readonly WireVerdict[];
  /** So many ms before it was chosen: what `since` was made of; null: it was chosen itself. */
  readonly last: number | null;
  readonly since: number | null;
  readonly until: number | null;
}

export const noFilter: ListFilter = { verdicts: [], last: null, since: null, until: null };

export const isFiltered = ({ verdicts, since, until }: ListFilter): boolean =>
  verdicts.length > 0 || since !== null || until !== null;

/** As the address has it: a window that ends now is one again when it is opened later. */
export function addressOf({ verdicts, last, since, until }: ListFilter): string {
  const query = new URLSearchParams(verdicts.map((verdict): [string, string] => ['verdict', verdict]));
  if (last !== null) query.set('last', String(last));
  else if (since !== null) query.set('since', String(since));
  if (until !== null) query.set('until', String(until));
  return query.toString();
}

/** What is no filter is left out: an address is typed and sent by anybody. */
export function filterIn(address: string): ListFilter {
  const query = new URLSearchParams(address);
  const number = (name: string): number | null => {
    const text = query.get(name) ?? '';
    return /^\d{1,15}$/.test(text) ? Number(text) : null;
  };
  const last = number('last');
  const since = last === null ? number('since') : Date.now() - last;
  const asked = query.getAll('verdict');
  return { verdicts: verdicts.filter((one) => asked.includes(one)), last, since, until: number('until') };
}

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

/** Part of a list: newest first, and where its older part begins. */
interface Rows {
  readonly rows: readonly WireRow[];
  readonly next: number | null;
}

/** With what arrived, oldest first. What an event repeats after a lost connection is there once. */
export function withNewer({ rows, next }: Rows, arrived: readonly WireRow[]): Rows {
  const newest = rows[0]?.seq ?? 0;
  const newer = arrived.filter(({ seq }) => seq > newest).reverse();
  return { rows: newer.length === 0 ? rows : [...newer, ...withTaken(rows, newer)], next };
}

export function keepNewest({ rows, next }: Rows, most: number): Rows {
  if (rows.length <= most) return { rows, next };
  const kept = rows.slice(0, most);
  return { rows: kept, next: kept.at(-1)?.seq ?? null };
}

/** Other contents of rows that are shown. */
export function withChanged({ rows }: Rows, changed: readonly WireRow[]): Pick<Rows, 'rows'> {
  const bySeq = new Map(changed.map((row) => [row.seq, row]));
  const isShown = rows.some(({ seq }) => bySeq.has(seq));
  const shown = isShown ? rows.map((row) => bySeq.get(row.seq) ?? row) : rows;
  return { rows: withTaken(shown, changed) };
}

/** A lead that was accepted lacks nothing any more in its earlier deliveries either. */
function withTaken(rows: readonly WireRow[], changed: readonly WireRow[]): readonly WireRow[] {
  const taken = new Set(changed.flatMap(({ verdict, leadId }) => (verdict === 'accepted' ? [leadId] : [])));
  const isTaken = ({ failed, leadId }: WireRow): boolean => failed > 0 && taken.has(leadId);
  return rows.some(isTaken) ? rows.map((row) => (isTaken(row) ? { ...row, failed: 0 } : row)) : rows;
}

/** A page that was read again, and what is newer than where it begins; what is older is read again when it is seen. */
export function withPage({ rows }: Rows, before: number, page: Rows): Rows {
  return { rows: [...rows.filter(({ seq }) => seq >= before), ...page.rows], next: page.next };
}
