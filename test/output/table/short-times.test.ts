import { expect, it } from 'vitest';
import { shortTimes } from '../../../src/output/table.ts';

it('keeps month and day, also where all times are of one day, and leaves other text alone', () => {
  expect(
    shortTimes(['2026-01-31T10:00:00Z', '', '2026-01-31T23:59:59.123Z', '2026-02-01T10:00:00Z', '3m ago']),
  ).toEqual(['01-31 10:00:00', '', '01-31 23:59:59', '02-01 10:00:00', '3m ago']);
});
