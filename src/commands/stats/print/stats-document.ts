import type { CheckedExpectation } from '../../../stats/check-expectations.ts';
import type { ReceiptFigures } from '../../../stats/receipt-counts.ts';
import type { CountedWindow, CountedWindows } from '../counted-windows.ts';
import type { Window } from '../stats-plan.ts';
import { rankedFacets } from '../ranked-facets.ts';
import { rankedMatrix } from '../ranked-matrix.ts';

type Document = Readonly<Record<string, unknown>>;

/** What `--json` prints; the fields are public API. Times are ISO 8601 in UTC, durations milliseconds. */
export function statsDocument(
  counted: CountedWindows,
  checked: readonly CheckedExpectation[] | undefined,
  top: number,
): Document {
  const { current, previous } = counted;
  const facets = rankedFacets(counted, top);
  const document = (one: CountedWindow, column: 'count' | 'before'): Document => ({
    window: isoWindow(one.window),
    total: one.leads.total,
    undated: one.leads.undated,
    by: Object.fromEntries(
      facets.map(({ key, rows }) => [
        key,
        Object.fromEntries(rows.filter((row) => row[column] > 0).map((row) => [row.value, row[column]])),
      ]),
    ),
    ...matrixOf(one, top),
    bucket: one.series.unit,
    series: one.series.buckets.map(({ start, count }) => ({ start: iso(start), count })),
    ...(one.receipts !== undefined && { inbox: receiptsOf(one.receipts) }),
  });
  return {
    ...document(current, 'count'),
    ...(previous !== undefined && { previous: document(previous, 'before') }),
    ...(checked !== undefined && {
      expect: checked.map(({ expectation, holds, seen }) => ({
        expectation: expectation.text,
        holds,
        seen: seen ?? null,
      })),
    }),
  };
}

function matrixOf(one: CountedWindow, top: number): Document {
  const matrix = rankedMatrix(one, top, top);
  if (matrix === undefined) return {};
  const { rows, columns, cells } = matrix;
  const rowOf = (counts: readonly number[]): Document =>
    Object.fromEntries(
      columns.map((column, i) => [column, counts[i] ?? 0] as const).filter(([, count]) => count > 0),
    );
  return { matrix: Object.fromEntries(rows.map((row, i) => [row, rowOf(cells[i] ?? [])])) };
}

function receiptsOf(receipts: ReceiptFigures): Document {
  const { received, accepted, duplicate, pending, rejected, backfilled } = receipts;
  return {
    received,
    accepted,
    duplicate,
    pending,
    rejected,
    byReason: Object.fromEntries(receipts.byReason),
    backfilled,
    delayMs: receipts.delayMs,
    attemptsPerLead: receipts.attemptsPerLead,
    longestGapMs: receipts.longestGap?.ms ?? null,
  };
}

const isoWindow = ({ since, until }: Window): Document => ({
  since: since === undefined ? null : iso(since),
  until: until === undefined ? null : iso(until),
});

const iso = (ms: number): string => new Date(ms).toISOString();
