import { UsageError } from '../errors.ts';
import { parseDuration } from '../time/time-text.ts';
import type { ReceiptFigures } from './receipt-counts.ts';

/** The kind of value that each measure has. A share may also be compared as the number of deliveries or leads behind it. */
const measureUnits = {
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

type Measure = keyof typeof measureUnits;

/** A comparison such as `gap<30m`. Durations are in milliseconds; shares, from 0 to 1, are of all deliveries, or of all leads for `backfilled`. */
export interface Expectation {
  readonly text: string;
  readonly measure: Measure;
  readonly operator: '<' | '<=' | '>' | '>=';
  readonly bound: number;
  readonly unit: 'duration' | 'share' | 'number';
}

/** The value of `--expect`, `gap<30m,duplicate<5%,p95<10s`. Throws a `UsageError` with the grammar for anything else. */
export function parseExpectations(typed: string): readonly Expectation[] {
  return typed.split(',').map((part) => parseExpectation(part.trim()));
}

/** A measure, an operator and a bound, with or without spaces between them. */
const comparison = /^([a-z0-9]+)\s*(<=|>=|<|>)\s*(\S+)$/;

function parseExpectation(text: string): Expectation {
  const [, measure = '', operator, bound = ''] = comparison.exec(text) ?? [];
  if (operator === undefined) throw expectationError(`'${text}' is no expectation`);
  if (!isMeasure(measure)) throw expectationError(`there is no measure '${measure}'`);
  const usualUnit = measureUnits[measure];
  const unit = usualUnit === 'share' && !bound.endsWith('%') ? 'number' : usualUnit;
  const value = boundValue(bound, unit);
  if (value === undefined)
    throw expectationError(`${measure} is compared with ${boundTexts[usualUnit]}, and '${bound}' is none`);
  return { text, measure, operator: operator as Expectation['operator'], bound: value, unit };
}

const boundTexts: Readonly<Record<Expectation['unit'], string>> = {
  duration: 'a duration such as 30m',
  share: 'a share such as 5%, or a number',
  number: 'a number',
};

const expectationError = (message: string): UsageError =>
  new UsageError(`--expect: ${message}`, {
    hint:
      `it is MEASURE<VALUE, also with <=, > or >=, and several are separated by commas: ${Object.keys(measureUnits).join(', ')}; ` +
      "gap and p50 to p99 with a duration, the others up to backfilled with a share or a number, such as 'gap<30m,duplicate<5%,p95<10s'",
  });

const isMeasure = (name: string): name is Measure => Object.hasOwn(measureUnits, name);

/** The bound as it is compared: milliseconds, a share from 0 to 1, or a number. Undefined for a text of another unit. */
function boundValue(bound: string, unit: Expectation['unit']): number | undefined {
  if (unit === 'duration') return parseDuration(bound);
  const [, digits, percent] = /^(\d+(?:\.\d+)?)(%?)$/.exec(bound) ?? [];
  if (digits === undefined || (percent === '%') !== (unit === 'share')) return undefined;
  return unit === 'share' ? Number(digits) / 100 : Number(digits);
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
  const extremeFigures = extremesOf(receipts);
  return expectations.map((expectation) => {
    const value = measured(expectation, total, receipts);
    // The times of removed receipts are not kept: where there are no others, a gap has no known beginning.
    const isGapUnknown =
      expectation.measure === 'gap' && value === undefined && receipts?.hasReceipts === true;
    const isMet = meets(value, expectation);
    const extremes = extremeFigures.map((figures) => measured(expectation, total, figures));
    const isUncertain = isGapUnknown || extremes.some((extreme) => meets(extreme, expectation) !== isMet);
    return { expectation, value, holds: isMet && !isUncertain, isUncertain };
  });
}

/**
 * Removed deliveries, which the inbox has deleted and keeps only as numbers, count in `received` and its parts. Under a filter, which
 * would need their fields, they are `unfilterable` instead. These are the figures that differ most from the measured ones: all of them
 * match the filter, and none, or all, are of the part that is measured.
 */
function extremesOf(receipts: ReceiptFigures | undefined): readonly ReceiptFigures[] {
  if (receipts === undefined) return [];
  const { received, accepted, duplicate, rejected, unfilterable: more } = receipts;
  const none = { ...receipts, received: received + more };
  const all = { accepted: accepted + more, duplicate: duplicate + more, rejected: rejected + more };
  return [none, { ...none, ...all }];
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

function meets(value: number | undefined, { measure, operator, bound }: Expectation): boolean {
  if (value === undefined) return measure !== 'gap';
  if (value === bound) return operator.endsWith('=');
  return operator.startsWith('<') ? value < bound : value > bound;
}
