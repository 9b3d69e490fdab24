import { describe, expect, it } from 'vitest';
import { allRows } from './all-rows.ts';
import { nightsOf } from './runs.ts';

const rows = allRows.filter(({ isVariant }) => isVariant !== true);

describe('thirty nights of an increment from an honest service that does not page bring each lead once:', () => {
  const honest = rows.filter(
    ({ name, cap, outlook, filters }) =>
      cap === undefined && (outlook === 'caution' || filters !== undefined || name.startsWith('json-server')),
  );

  it.each(honest)('$name', async (row) => {
    const arrivals = (night: number) => (night * 7) % 12;
    const { red, lost, repeated } = await nightsOf(row, { nights: 30, first: 18, arrivals });
    expect({ lost, repeated }).toEqual({ lost: 0, repeated: 0 });
    // Nothing may prove that a list is whole: until somebody says so, at the first red night.
    expect(red.length).toBeLessThanOrEqual(1);
  });
});

describe('nights in which more leads arrive than the service gives at once are red:', () => {
  it.each(rows.filter(({ name }) => /^cut at \d+, nothing said$/.test(name)))('$name', async (row) => {
    const arrivals = () => 2 * (row.cap ?? 0);
    const { red, lost } = await nightsOf(row, { nights: 5, first: 7, arrivals });
    expect(lost).toBeGreaterThan(0);
    expect(red).not.toEqual([]);
  });
});
