import type { CheckedExpectation } from '../../stats/expectations.ts';
import type { ReceiptFigures } from '../../stats/receipt-counts.ts';
import type { CountedWindow, Window } from './plan.ts';
import { rankedFacets, rankedMatrix } from './ranked.ts';

export const statsDocument = (
  counted: CountedWindow,
  checked: readonly CheckedExpectation[] | undefined,
  top: number,
) => ({
  window: isoWindow(counted.window),
  total: counted.leads.total,
  undated: counted.leads.undated,
  by: Object.fromEntries(
    rankedFacets(counted, top).map(({ key, rows }) => [
      key,
      Object.fromEntries(rows.filter(({ count }) => count > 0).map(({ value, count }) => [value, count])),
    ]),
  ),
  ...matrixOf(counted, top),
  bucket: counted.series.unit,
  series: counted.series.buckets.map(({ start, count }) => ({ start: iso(start), count })),
  ...(counted.receipts !== undefined && { inbox: receiptsOf(counted.receipts) }),
  ...(checked !== undefined && {
    expect: checked.map(({ expectation, holds, seen }) => ({
      expectation: expectation.text,
      holds,
      seen: seen ?? null,
    })),
  }),
});

function matrixOf(one: CountedWindow, top: number) {
  const matrix = rankedMatrix(one, top, top);
  if (matrix === undefined) return {};
  const { rows, columns, cells } = matrix;
  const rowOf = (counts: readonly number[]): Record<string, number> =>
    Object.fromEntries(
      columns.map((column, i) => [column, counts[i] ?? 0] as const).filter(([, count]) => count > 0),
    );
  return { matrix: Object.fromEntries(rows.map((row, i) => [row, rowOf(cells[i] ?? [])])) };
}

function receiptsOf(receipts: ReceiptFigures) {
  const { received, accepted, duplicate, rejected, other, backfilled } = receipts;
  return {
    received,
    accepted,
    duplicate,
    rejected,
    byReason: Object.fromEntries(receipts.byReason),
    other,
    backfilled,
    delayMs: receipts.delayMs,
    attemptsPerLead: receipts.attemptsPerLead,
    longestGapMs: receipts.longestGap?.ms ?? null,
  };
}

const isoWindow = ({ since, until }: Window) => ({
  since: since === undefined ? null : iso(since),
  until: until === undefined ? null : iso(until),
});

const iso = (ms: number): string => new Date(ms).toISOString();

type Cell = string | number | null;

export const figureColumns = ['key', 'value', 'second', 'count'] as const;

type FigureRow = Readonly<Record<(typeof figureColumns)[number], Cell>>;

/** `second` is set in a matrix. */
const row = (key: string, value: Cell, count: Cell, second: Cell = null): FigureRow => ({
  key,
  value,
  second,
  count,
});

/** Every figure in a row of its own: totals, values of fields, buckets of time, deliveries. */
export function statsRows(counted: CountedWindow, top: number): readonly FigureRow[] {
  const matrix = rankedMatrix(counted, top, top);
  return [
    row('total', null, counted.leads.total),
    ...rankedFacets(counted, top).flatMap(({ key, rows }) =>
      rows.map(({ value, count }) => row(key, value, count)),
    ),
    ...(matrix?.rows.flatMap((value, r) =>
      matrix.columns.map((second, c) =>
        row(`${matrix.rowKey},${matrix.columnKey}`, value, matrix.cells[r]?.[c] ?? 0, second),
      ),
    ) ?? []),
    ...counted.series.buckets.map(({ start, count }) => row(counted.series.unit, iso(start), count)),
    ...(counted.receipts === undefined ? [] : receiptRows(counted.receipts)),
  ];
}

function receiptRows(figures: ReceiptFigures): FigureRow[] {
  const verdicts = ['received', 'accepted', 'duplicate', 'rejected', 'other', 'backfilled'] as const;
  const shares = ['p50', 'p90', 'p95', 'p99'] as const;
  return [
    ...verdicts.map((name) => row(name, null, figures[name])),
    ...[...figures.byReason].map(([reason, count]) => row('byReason', reason, count)),
    ...shares.map((name) => row('delayMs', name, figures.delayMs[name])),
    row('attemptsPerLead', null, figures.attemptsPerLead),
    row('longestGapMs', null, figures.longestGap?.ms ?? null),
  ];
}
