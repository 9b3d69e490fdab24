import { expect, it } from 'vitest';
import { drawHistory, type History, walkHistory } from '../support/drawn-history.ts';
import { type Style, styles } from '../support/moving-service.ts';

/** `DRAWN_HISTORIES=20000` draws as many. */
const many = Number(process.env['DRAWN_HISTORIES'] ?? 800);
const first = Number(process.env['DRAWN_FROM'] ?? 1);
/** Positions that name a record, or windows that overlap, need no list that stands still. */
const anchored: readonly Style[] = ['opaque cursor', 'has_more', 'array, starting_after'];
const offsets: readonly Style[] = ['offset', 'offset and total', 'array, offset'];

/** A lead that leaves what is asked for before a page, and is back before the next reading, each time before the same page. */
const mayHide = ({ movement, page: { style } }: History): boolean =>
  movement === 'leave and return' && !anchored.includes(style);

it(
  'of drawn histories of moving lists, none ends complete with a loss, and few walks give up',
  async () => {
    const lost: number[] = [];
    const hidden: number[] = [];
    const gaveUp = { anchored: 0, offsets: 0, counted: 0, unmoved: 0 };
    const drawn = { ...gaveUp };
    for (let seed = first; seed < first + many; seed += 1) {
      const history = drawHistory(seed, styles);
      const walked = await walkHistory(history);
      const { style } = history.page;
      const moving = anchored.includes(style) ? 'anchored' : offsets.includes(style) ? 'offsets' : 'counted';
      const kind = walked.hasMoved ? moving : 'unmoved';
      drawn[kind] += 1;
      if (!walked.isComplete) gaveUp[kind] += 1;
      if (walked.isComplete && walked.lost.length > 0) (mayHide(history) ? hidden : lost).push(seed);
    }
    expect(lost).toEqual([]);
    expect(hidden.length).toBeLessThanOrEqual(1 + many / 1000);
    const shareOf = (kind: keyof typeof drawn): number => gaveUp[kind] / Math.max(1, drawn[kind]);
    // Up to one change a request; and 400 after a full last page, or pages of one lead, leave an end unproven.
    expect(shareOf('unmoved')).toBeLessThan(0.06);
    expect(shareOf('anchored')).toBeLessThan(0.06);
    expect(shareOf('offsets')).toBeLessThan(0.2);
    expect(shareOf('counted')).toBeLessThan(0.45);
  },
  120_000 + 60 * many,
);
