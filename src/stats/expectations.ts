import type { ReceiptFigures } from './receipt-counts.ts';

/** The kind of value that each measure has. A share may also be compared as the number of deliveries or leads behind it. */
export const measureUnits = {
  gap: 'duration',
  p50: 'duration',
  p90: 'duration',
  p95: 'duration',
  p99: 'duration',
  accepted: 'share',
  duplicate: 'share',
  rejected: 'share',
  backfilled: 'share',
  received: 'number',
  total: 'number',
} as const;

export type Measure = keyof typeof measureUnits;

/** Removed deliveries count here too. A filter cannot see them, and leaves these measures uncertain then. */
const deliveryMeasures: readonly Measure[] = ['accepted', 'duplicate', 'rejected', 'received'];

/** A comparison such as `gap<30m`. Durations are in milliseconds; shares, from 0 to 1, are of all deliveries, or of all leads for `backfilled`. */
export interface Expectation {
  readonly text: string;
  readonly measure: Measure;
  readonly operator: '<' | '<=' | '>' | '>=';
  readonly bound: number;
  readonly unit: 'duration' | 'share' | 'number';
}

export interface CheckedExpectation {
  readonly expectation: Expectation;
  readonly holds: boolean;
  /** The measured value in the unit of the expectation; undefined where nothing could be measured. */
  readonly value: number | undefined;
  /** Whether the removed deliveries, which could not be measured, decide if the expectation holds. Then `holds` is false. */
  readonly isUncertain: boolean;
}

/**
 * Shares and delays of no deliveries break no expectation: that nothing came is for `gap`, `received` and `total` to say. A gap
 * of unknown length, since nothing ever came, meets none: the window may be shorter than the bound.
 */
export function checkExpectations(
  expectations: readonly Expectation[],
  total: number,
  receipts: ReceiptFigures | undefined,
): readonly CheckedExpectation[] {
  return expectations.map((expectation) => {
    const { measure } = expectation;
    const value = measured(expectation, total, receipts);
    const isMet = value === undefined ? measure !== 'gap' : meets(value, expectation);
    // The times of removed receipts are not kept: where there are no others, a gap has no known beginning.
    const isGapUnknown = measure === 'gap' && value === undefined && receipts?.hasReceipts === true;
    const lacksDeliveries = (receipts?.unfilterable ?? 0) > 0 && deliveryMeasures.includes(measure);
    const isUncertain = isGapUnknown || (isMet && lacksDeliveries);
    return { expectation, value, holds: isMet && !isUncertain, isUncertain };
  });
}

function measured(
  { measure, unit }: Expectation,
  total: number,
  receipts: ReceiptFigures | undefined,
): number | undefined {
  if (measure === 'total') return total;
  if (receipts === undefined) return undefined;
  if (measure === 'gap') return receipts.hasReceipts ? receipts.longestGap?.ms : undefined;
  if (isPercentile(measure)) return receipts.delayMs[measure] ?? undefined;
  const count = receipts[measure];
  if (unit === 'number') return count;
  const whole = measure === 'backfilled' ? total : receipts.received;
  return whole === 0 ? undefined : count / whole;
}

const isPercentile = (measure: Measure): measure is keyof ReceiptFigures['delayMs'] =>
  /^p\d\d$/.test(measure);

function meets(value: number, { operator, bound }: Expectation): boolean {
  if (value === bound) return operator.endsWith('=');
  return operator.startsWith('<') ? value < bound : value > bound;
}
