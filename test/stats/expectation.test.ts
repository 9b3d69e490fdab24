import { describe, expect, it, test } from 'vitest';
import { messageAndHint } from '../support/described.ts';
import {
  type CheckedExpectation,
  checkExpectations,
  parseExpectations,
} from '../../src/stats/expectations.ts';
import type { ReceiptFigures } from '../../src/stats/receipt-counts.ts';

const receipts: ReceiptFigures = {
  received: 200,
  accepted: 180,
  duplicate: 10,
  other: 0,
  rejected: 10,
  byReason: new Map(),
  backfilled: 0,
  delayMs: { p50: 100, p90: 900, p95: 10_000, p99: 60_000 },
  attemptsPerLead: 1.5,
  isAttemptsUpperBound: false,
  longestGap: { start: 0, ms: 1_800_000 },
  hasReceipts: true,
  unfilterable: 0,
};
const nothing: ReceiptFigures = {
  ...receipts,
  received: 0,
  accepted: 0,
  duplicate: 0,
  rejected: 0,
  delayMs: { p50: null, p90: null, p95: null, p99: null },
  attemptsPerLead: null,
  longestGap: undefined,
  hasReceipts: false,
};
const holds = (text: string, figures = receipts, total = 180): boolean[] =>
  checkExpectations(parseExpectations(text), total, figures).map((one) => one.holds);
const resultOf = ({ holds: isMet, isUncertain }: CheckedExpectation): string =>
  isUncertain ? 'unknown' : String(isMet);

describe('expectations', () => {
  it('are compared with what was counted, at the bound exactly', () => {
    expect(holds('gap<30m,gap<=30m,gap<1h30m,gap>29m,gap>=30m')).toEqual([false, true, true, true, true]);
    expect(holds('p95<10s, p95 <= 10s, p50<1s, p90<1s, p99<1m')).toEqual([false, true, true, true, false]);
    expect(holds('duplicate<5%,duplicate<=5%,duplicate<10,duplicate<=10,rejected<5.1%')).toEqual([
      false,
      true,
      false,
      true,
      true,
    ]);
    expect(holds('received>=200,total>=181,accepted>90%')).toEqual([true, false, false]);
  });

  it('of shares and delays hold where nothing came, and that nothing came is for the others to say', () => {
    expect(holds('duplicate<5%,accepted>90%,p95<10s', nothing, 0)).toEqual([true, true, true]);
    expect(holds('gap<30m,gap>30m,total>0,received>0', nothing, 0)).toEqual([false, false, false, false]);
    // The window may be shorter than the bound.
    expect(holds('gap<30m', { ...nothing, longestGap: { start: 0, ms: 60_000 } })).toEqual([false]);
  });

  it('of leads that were pulled only are of all leads, where no delivery came too', () => {
    const pulled = { ...receipts, backfilled: 9 };
    expect(holds('backfilled<5%,backfilled<=5%,backfilled<10', pulled)).toEqual([false, true, true]);
    expect(holds('backfilled<5%,rejected<5%', { ...nothing, backfilled: 3 }, 3)).toEqual([false, true]);
    expect(holds('backfilled<5%', nothing, 0)).toEqual([true]);
  });

  it('of deliveries do not hold where some are not stored any more, and no filter can choose them', () => {
    const checked = checkExpectations(
      parseExpectations('rejected<6%,rejected<4%,received>200,gap<1h,p50<1s,total>=180'),
      180,
      { ...receipts, unfilterable: 3 },
    );
    expect(checked.map(resultOf)).toEqual(['unknown', 'false', 'unknown', 'true', 'true', 'true']);
  });

  it.each([
    ['received>100', 200, 3, 'true'],
    ['received>100', 40, 80, 'unknown'],
    ['received>100', 40, 60, 'false'],
    ['received<100', 200, 3, 'false'],
    ['rejected<=11%', 200, 3, 'true'],
    ['accepted>88%', 200, 3, 'true'],
    ['accepted>89%', 200, 3, 'unknown'],
    ['accepted>80%', 0, 3, 'unknown'],
  ])('%s, with %i measured and %i that a filter cannot see: %s', (text, received, unfilterable, result) => {
    const figures = { ...(received === 0 ? nothing : receipts), received, unfilterable };
    expect(checkExpectations(parseExpectations(text), 0, figures).map(resultOf)).toEqual([result]);
  });

  test.each([
    ['gap', "'gap' is no expectation"],
    ['gap=3', "'gap=3' is no expectation"],
    ['gap<30m,', "'' is no expectation"],
    ['gap<5%', "gap is compared with a duration such as 30m, and '5%' is none"],
    ['p95<10', "p95 is compared with a duration such as 30m, and '10' is none"],
    ['p75<10s', "there is no measure 'p75'"],
    ['toString<1', "'toString<1' is no expectation"],
    ['constructor<1', "there is no measure 'constructor'"],
    ['total<5%', "total is compared with a number, and '5%' is none"],
    ['duplicate<x%', "duplicate is compared with a share such as 5%, or a number, and 'x%' is none"],
  ])('%s is refused, with the grammar', (text, message) => {
    expect(() => parseExpectations(text)).toThrow(expect.objectContaining({ code: 'usage' }));
    const shown = messageAndHint(() => parseExpectations(text));
    expect(shown.startsWith(`--expect: ${message}; it is MEASURE<VALUE`), shown).toBe(true);
    expect(shown).toContain("'gap<30m,duplicate<5%,p95<10s'");
  });
});
