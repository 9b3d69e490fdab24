import type { CheckedExpectation } from '../../stats/expectations.ts';
import type { ReceiptFigures } from '../../stats/receipt-counts.ts';
import type { CountedWindow, CountedWindows, Window } from './plan.ts';
import { rankedFacets, rankedMatrix } from './ranked.ts';

export function statsDocument(
  counted: CountedWindows,
  checked: readonly CheckedExpectation[] | undefined,
  top: number,
) {
  const { current, previous } = counted;
  const facets = rankedFacets(counted, top);
  const document = (one: CountedWindow, column: 'count' | 'before') => ({
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
  const { received, accepted, duplicate, pending, rejected, other, backfilled } = receipts;
  return {
    received,
    accepted,
    duplicate,
    pending,
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

/** The columns of `--format csv`; the last one is there with `--compare`. */
export const figureColumns = ['key', 'value', 'second', 'count', 'previous'] as const;

type FigureRow = Readonly<Record<(typeof figureColumns)[number], Cell>>;

/** `second` is set in a matrix. */
const row = (key: string, value: Cell, count: Cell, previous: Cell, second: Cell = null): FigureRow => ({
  key,
  value,
  second,
  count,
  previous,
});

/** Every figure in a row of its own: totals, values of fields, buckets of time, deliveries. */
export function statsRows(counted: CountedWindows, top: number): readonly FigureRow[] {
  const { current, previous } = counted;
  const matrix = rankedMatrix(current, top, top);
  return [
    row('total', null, current.leads.total, previous?.leads.total ?? null),
    ...rankedFacets(counted, top).flatMap(({ key, rows }) =>
      rows.map(({ value, count, before }) => row(key, value, count, previous === undefined ? null : before)),
    ),
    ...(matrix?.rows.flatMap((value, r) =>
      matrix.columns.map((second, c) =>
        row(`${matrix.rowKey},${matrix.columnKey}`, value, matrix.cells[r]?.[c] ?? 0, null, second),
      ),
    ) ?? []),
    ...counted.buckets.map(({ start, count, before = null }) =>
      row(current.series.unit, iso(start), count, before),
    ),
    ...receiptRows(current.receipts, previous?.receipts),
  ];
}

function receiptRows(now: ReceiptFigures | undefined, before: ReceiptFigures | undefined): FigureRow[] {
  if (now === undefined) return [];
  const reasons = new Set([...now.byReason.keys(), ...(before?.byReason.keys() ?? [])]);
  const plain = (key: string, of: (figures: ReceiptFigures) => Cell): FigureRow =>
    row(key, null, of(now), before === undefined ? null : of(before));
  const verdicts = [
    'received',
    'accepted',
    'duplicate',
    'pending',
    'rejected',
    'other',
    'backfilled',
  ] as const;
  const shares = ['p50', 'p90', 'p95', 'p99'] as const;
  return [
    ...verdicts.map((name) => plain(name, (figures) => figures[name])),
    ...[...reasons].map((reason) =>
      row(
        'byReason',
        reason,
        now.byReason.get(reason) ?? 0,
        before === undefined ? null : (before.byReason.get(reason) ?? 0),
      ),
    ),
    ...shares.map((name) => row('delayMs', name, now.delayMs[name], before?.delayMs[name] ?? null)),
    plain('attemptsPerLead', (figures) => figures.attemptsPerLead),
    plain('longestGapMs', (figures) => figures.longestGap?.ms ?? null),
  ];
}
