import { UsageError } from '../errors.ts';
import { parseDuration } from '../time/time-text.ts';
import type { ReceiptFigures } from './receipt-counts.ts';

const measures = {
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

type Measure = keyof typeof measures;

/** Measures of deliveries, also of those that are not stored any more. */
const ofDeliveries: readonly Measure[] = ['accepted', 'duplicate', 'rejected', 'received'];

/** A part of `--expect`. Durations are in milliseconds, shares from 0 to 1. */
export interface Expectation {
  readonly text: string;
  readonly measure: Measure;
  readonly operator: '<' | '<=' | '>' | '>=';
  readonly bound: number;
  /** A bound with `%` is a share of all deliveries, or of all leads for `backfilled`. */
  readonly unit: 'duration' | 'share' | 'number';
}

/** `gap<30m,duplicate<5%,p95<10s`. Throws a `UsageError` with the grammar for anything else. */
export function parseExpectations(typed: string): readonly Expectation[] {
  return typed.split(',').map((part) => parseExpectation(part.trim()));
}

function parseExpectation(text: string): Expectation {
  const [, name = '', operator, value = ''] = /^([a-z0-9]+)\s*(<=|>=|<|>)\s*(\S+)$/.exec(text) ?? [];
  if (operator === undefined) throw expectationError(`'${text}' is no expectation`);
  if (!isMeasure(name)) throw expectationError(`there is no measure '${name}'`);
  const kind = measures[name];
  const unit = kind === 'share' && !value.endsWith('%') ? 'number' : kind;
  const bound = boundOf(value, unit);
  if (bound === undefined)
    throw expectationError(`${name} is compared with ${bounds[kind]}, and '${value}' is none`);
  return { text, measure: name, operator: operator as Expectation['operator'], bound, unit };
}

const bounds = {
  duration: 'a duration such as 30m',
  share: 'a share such as 5%, or a number',
  number: 'a number',
} as const;

const expectationError = (message: string): UsageError =>
  new UsageError(`--expect: ${message}`, {
    hint:
      `it is MEASURE<VALUE, also with <=, > or >=, and several are separated by commas: ${Object.keys(measures).join(', ')}; ` +
      "gap and p50 to p99 with a duration, the others up to backfilled with a share or a number, such as 'gap<30m,duplicate<5%,p95<10s'",
  });

const isMeasure = (name: string): name is Measure => Object.hasOwn(measures, name);

function boundOf(value: string, unit: Expectation['unit']): number | undefined {
  if (unit === 'duration') return parseDuration(value);
  const [, digits, percent] = /^(\d+(?:\.\d+)?)(%?)$/.exec(value) ?? [];
  if (digits === undefined || (percent === '%') !== (unit === 'share')) return undefined;
  return unit === 'share' ? Number(digits) / 100 : Number(digits);
}

export interface CheckedExpectation {
  readonly expectation: Expectation;
  readonly holds: boolean;
  /** The measured value in the unit of the expectation; undefined where nothing could be measured. */
  readonly value: number | undefined;
  /** Deliveries that are not stored any more decide whether the value meets the expectation. */
  readonly isDoubtful: boolean;
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
    const isRemoved = measure === 'gap' && value === undefined && receipts?.hasReceipts === true;
    const isUnjudged = isMet && (receipts?.unjudged ?? 0) > 0 && ofDeliveries.includes(measure);
    const isDoubtful = isRemoved || isUnjudged;
    return { expectation, value, holds: isMet && !isDoubtful, isDoubtful };
  });
}

function measured(
  { measure, unit }: Expectation,
  total: number,
  receipts: ReceiptFigures | undefined,
): number | undefined {
  if (measure === 'total') return total;
  if (receipts === undefined) return undefined;
  switch (measure) {
    case 'gap':
      return receipts.hasReceipts ? receipts.longestGap?.ms : undefined;
    case 'received':
      return receipts.received;
    case 'p50':
    case 'p90':
    case 'p95':
    case 'p99':
      return receipts.delayMs[measure] ?? undefined;
    default: {
      if (unit === 'number') return receipts[measure];
      const whole = measure === 'backfilled' ? total : receipts.received;
      return whole === 0 ? undefined : receipts[measure] / whole;
    }
  }
}

function meets(value: number, { operator, bound }: Expectation): boolean {
  if (value === bound) return operator.endsWith('=');
  return operator.startsWith('<') ? value < bound : value > bound;
}
