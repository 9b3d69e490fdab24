import type { WireDelivery, WireRow } from '../../wire.ts';

/** How many of a lead's deliveries are offered, and how many of the list on each side. */
const mostOfLead = 20;
const mostOnEachSide = 5;

/** What a delivery may be compared with; the likeliest first. */
export function comparable(
  delivery: WireDelivery,
  rows: readonly WireRow[],
): { ofLead: readonly WireRow[]; around: readonly WireRow[] } {
  const others = delivery.attempts.filter(({ seq }) => seq !== delivery.seq);
  const distance = ({ seq }: WireRow): number =>
    seq < delivery.seq ? delivery.seq - seq : seq - delivery.seq + 0.5;
  const ofLead = [...others].sort((a, b) => distance(a) - distance(b)).slice(0, mostOfLead);
  const known = new Set([delivery.seq, ...others.map(({ seq }) => seq)]);
  const index = rows.findIndex(({ seq }) => seq <= delivery.seq);
  const from = Math.max(0, (index === -1 ? rows.length : index) - mostOnEachSide);
  const around = rows
    .slice(from, from + 2 * mostOnEachSide + 1)
    .filter(({ seq }) => !known.has(seq))
    .sort((a, b) => distance(a) - distance(b));
  return { ofLead, around };
}
