import type { WireRow } from '../../wire.ts';

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

/** A page that was read again, and what is newer than where it begins; what is older is read again when it is seen. */
export function withPage({ rows }: Rows, before: number, page: Rows): Rows {
  return { rows: [...rows.filter(({ seq }) => seq >= before), ...page.rows], next: page.next };
}
