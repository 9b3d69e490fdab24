import type { Expectation } from './expectation.ts';
import type { ReceiptFigures } from './receipt-counts.ts';

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
    case 'accepted':
    case 'pending': {
      const count = receipts[measure];
      return rangeOfPart([count, 0], [received - count, rejections + repeats], unit);
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

const shareOf = (part: number, rest: number): number => {
  if (part === Infinity) return 1;
  return part === 0 ? 0 : part / (part + rest);
};

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
