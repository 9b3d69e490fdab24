import type { ReceiptFigures } from '../../../stats/receipt-counts.ts';
import type { CountedWindows } from '../counted-windows.ts';
import { rankedFacets } from '../ranked-facets.ts';
import { rankedMatrix } from '../ranked-matrix.ts';

type Cell = string | number | null;

/** One figure of `--format csv`; `second` is set in a matrix. */
interface FigureRow {
  readonly key: string;
  readonly value: Cell;
  readonly second: Cell;
  readonly count: Cell;
  readonly previous: Cell;
}

/** The columns of `--format csv`; the last one is there with `--compare`. */
export const figureColumns = ['key', 'value', 'second', 'count', 'previous'] as const;

/** Every figure in a row of its own: totals, values of fields, buckets of time, deliveries. */
export function statsRows(counted: CountedWindows, top: number): readonly FigureRow[] {
  const { current, previous } = counted;
  const row = (key: string, value: Cell, count: Cell, before: Cell, second: Cell = null): FigureRow => ({
    key,
    value,
    second,
    count,
    previous: before,
  });
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
    ...receiptRows(current.receipts, previous?.receipts, row),
  ];
}

function receiptRows(
  now: ReceiptFigures | undefined,
  before: ReceiptFigures | undefined,
  row: (key: string, value: Cell, count: Cell, before: Cell) => FigureRow,
): FigureRow[] {
  if (now === undefined) return [];
  const reasons = new Set([...now.byReason.keys(), ...(before?.byReason.keys() ?? [])]);
  const plain = (key: string, of: (figures: ReceiptFigures) => Cell): FigureRow =>
    row(key, null, of(now), before === undefined ? null : of(before));
  const verdicts = ['received', 'accepted', 'duplicate', 'pending', 'rejected', 'backfilled'] as const;
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

const iso = (ms: number): string => new Date(ms).toISOString();
