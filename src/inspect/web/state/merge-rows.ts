import type { WirePage, WireRow } from '../../wire.ts';

/** Part of a list: newest first, and where its older part begins. */
interface Rows {
  readonly rows: readonly WireRow[];
  readonly next: number | null;
}

/** With what arrived, oldest first. What an event repeats after a lost connection is there once. */
export function withNewer({ rows, next }: Rows, arrived: readonly WireRow[]): Rows {
  const newest = rows[0]?.seq ?? 0;
  const newer = arrived.filter(({ seq }) => seq > newest).reverse();
  return { rows: newer.length === 0 ? rows : [...newer, ...rows], next };
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
  return { rows: isShown ? rows.map((row) => bySeq.get(row.seq) ?? row) : rows };
}

/** What a page that was asked for with `before` says in place of what was known of that part. */
export function withPage({ rows, next }: Rows, before: number, page: WirePage): Rows {
  const newer = rows.filter(({ seq }) => seq >= before);
  const oldest = page.next === null ? 0 : (page.rows.at(-1)?.seq ?? before);
  const older = rows.filter(({ seq }) => seq < oldest);
  return { rows: [...newer, ...page.rows, ...older], next: older.length > 0 ? next : page.next };
}
