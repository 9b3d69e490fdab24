import { describe, expect, it } from 'vitest';
import { allRows } from './all-rows.ts';
import { notYet } from './not-yet.ts';
import type { Row } from './row.ts';
import { learntRuns, wrongOf } from './runs.ts';

// Those with settings are about these.
const rows = allRows.filter(({ settings, isVariant }) => !(isVariant ?? settings));

/** All three for each row would take three times as long. */
const few = (row: Row): number => [3, 13, 1][rows.indexOf(row) % 3] ?? 3;

describe('an export with what doctor --learn found is complete, or says that it is not:', () => {
  it.each(rows)('$name', async (row) => {
    expect(wrongOf(await learntRuns(row, [few(row)]), notYet.learnt[row.name])).toEqual([]);
  });
});
