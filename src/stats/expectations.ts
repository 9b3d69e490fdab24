import { UsageError } from '../errors.ts';
import { parseDuration } from '../time/time-text.ts';
import type { ReceiptFigures } from './receipt-counts.ts';

/** What can be expected, and how its value is written. */
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
  attempts: 'number',
  received: 'number',
  total: 'number',
} as const;

type Measure = keyof typeof measures;

/** One part of `--expect`: durations in milliseconds, shares from 0 to 1. */
export interface Expectation {
  /** As it was typed. */
  readonly text: string;
  readonly measure: Measure;
  readonly operator: '<' | '<=' | '>' | '>=';
  readonly bound: number;
  /** What the bound is: a share of all deliveries, or of leads for `backfilled`, was written with `%`; else a number. */
  readonly unit: 'duration' | 'share' | 'number';
}

/** `gap<30m,duplicate<5%,p95<10s`. Throws a `UsageError` with the grammar for anything else. */
export function parseExpectations(typed: string): readonly Expectation[] {
  return typed.split(',').map((part) => parseExpectation(part.trim()));
}

function parseExpectation(text: string): Expectation {
  const [, name = '', operator, value = ''] = /^([a-z0-9]+)\s*(<=|>=|<|>)\s*(\S+)$/.exec(text) ?? [];
  if (operator === undefined) {
    throw expectationError(`'${text}' is no expectation`);
  }
  if (!isMeasure(name)) {
    throw expectationError(`there is no measure '${name}'`);
  }
  const kind = measures[name];
  const unit = kind === 'share' && !value.endsWith('%') ? 'number' : kind;
  const bound = boundOf(value, unit);
  if (bound === undefined) {
    throw expectationError(`${name} is compared with ${bounds[kind]}, and '${value}' is none`);
  }
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
  /** What was measured, in the unit of the expectation; undefined where there was nothing to measure it by. */
  readonly seen: number | undefined;
  /** What was measured keeps it, and would not with deliveries that came and are not stored any more. */
  readonly isDoubtful: boolean;
}

/** Lowest and highest value that may be right: they differ where deliveries came that are not stored any more. */
type Range = readonly [least: number, most: number];

/**
 * Compares what was counted with what is expected. Shares and delays of no deliveries at all break no expectation: that
 * none came is for `gap`, `received` and `total` to say. A gap of unknown length, since nothing ever came, keeps none:
 * the window may be shorter than what is expected. What only holds if nothing else came than what is stored does not hold,
 * where there may have been more.
 */
export function checkExpectations(
  expectations: readonly Expectation[],
  total: number,
  receipts: ReceiptFigures | undefined,
): readonly CheckedExpectation[] {
  return expectations.map((expectation) => {
    const seen = measured(expectation, total, receipts);
    if (seen === undefined) {
      return { expectation, holds: expectation.measure !== 'gap', seen, isDoubtful: false };
    }
    const isSeenKept = isKept(expectation, seen);
    const range = receipts === undefined ? undefined : rangeOf(expectation, receipts);
    const holds = isSeenKept && (range ?? []).every((value) => isKept(expectation, value));
    return { expectation, holds, seen, isDoubtful: isSeenKept && !holds };
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
    case 'attempts':
      return receipts.attemptsPerLead ?? undefined;
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

/** Undefined for what is known, whatever is not stored any more. */
function rangeOf({ measure, unit }: Expectation, receipts: ReceiptFigures): Range | undefined {
  const { received, duplicate, rejected, attemptsPerLead, notKept } = receipts;
  const { rejected: rejections, repeats } = notKept;
  switch (measure) {
    case 'received':
      return [received, received + rejections + repeats];
    case 'attempts': {
      if (attemptsPerLead === null) return undefined;
      return [attemptsPerLead, attemptsPerLead * (1 + repeats / (received - rejected))];
    }
    case 'rejected':
      return rangeOfPart([rejected, rejections], [received - rejected, repeats], unit);
    case 'duplicate':
      return rangeOfPart([duplicate, repeats], [received - duplicate, rejections], unit);
    case 'accepted': {
      const { accepted } = receipts;
      return rangeOfPart([accepted, 0], [received - accepted, rejections + repeats], unit);
    }
    default:
      return undefined;
  }
}

/** Of a part and the rest: what is stored, and how many more there may have been. */
function rangeOfPart(
  [part, moreOfPart]: readonly [number, number],
  [rest, moreOfRest]: readonly [number, number],
  unit: Expectation['unit'],
): Range {
  if (unit === 'number') return [part, part + moreOfPart];
  return [shareOf(part, rest + moreOfRest), shareOf(part + moreOfPart, rest)];
}

const shareOf = (part: number, rest: number): number => (part === 0 ? 0 : part / (part + rest));

function isKept({ operator, bound }: Expectation, seen: number): boolean {
  switch (operator) {
    case '<':
      return seen < bound;
    case '<=':
      return seen <= bound;
    case '>':
      return seen > bound;
    case '>=':
      return seen >= bound;
  }
}
