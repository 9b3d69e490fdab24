import type { CheckedExpectation } from '../../stats/expectations.ts';
import type { ReceiptFigures } from '../../stats/receipt-counts.ts';
import type { Stats } from './plan.ts';

export const statsDocument = (
  { window, leads, series, receipts }: Stats,
  checked: readonly CheckedExpectation[] | undefined,
) => ({
  window: { since: isoTime(window.since), until: isoTime(window.until) },
  total: leads.total,
  undated: leads.undated,
  by: Object.fromEntries(leads.ranked(Infinity).map(({ key, rows }) => [key, Object.fromEntries(rows)])),
  bucket: series.unit,
  series: series.buckets.map(({ start, count }) => ({ start: isoTime(start), count })),
  ...(receipts !== undefined && { inbox: receiptsDocument(receipts) }),
  ...(checked !== undefined && {
    expect: checked.map(({ expectation, holds, value }) => ({
      expectation: expectation.text,
      holds,
      seen: value ?? null,
    })),
  }),
});

const receiptsDocument = (figures: ReceiptFigures) => {
  const { received, accepted, duplicate, rejected, backfilled, delayMs, attemptsPerLead } = figures;
  return {
    ...{ received, accepted, duplicate, rejected, byReason: Object.fromEntries(figures.byReason) },
    ...{ other: figures.other, backfilled, delayMs, attemptsPerLead },
    longestGapMs: figures.longestGap?.ms ?? null,
  };
};

const isoTime = (ms: number | undefined): string | null =>
  ms === undefined ? null : new Date(ms).toISOString();
