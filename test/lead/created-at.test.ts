import { describe, expect, it } from 'vitest';
import { deviationsOf } from '../../src/lead/read-leads.ts';
import { readCreatedAt } from '../../src/lead/raw-lead.ts';

describe('the time of a lead', () => {
  it.each([
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31T12:00', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31T12:00:00', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31T12:00:00,5Z', '2026-01-31T12:00:00.500Z'],
    ['2026-01-31T12:00:00.123456789012Z', '2026-01-31T12:00:00.123Z'],
    ['2026-01-31 12:00:00+00', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31T12:00:00+0130', '2026-01-31T10:30:00.000Z'],
    ['2026-01-31T12:00:00-01:30', '2026-01-31T13:30:00.000Z'],
    ['2026-01-31t12:00:00z', '2026-01-31T12:00:00.000Z'],
    [1_769_860_800, '2026-01-31T12:00:00.000Z'],
    [1_769_860_800.25, '2026-01-31T12:00:00.250Z'],
    ['1769860800', '2026-01-31T12:00:00.000Z'],
    [1_769_860_800_250, '2026-01-31T12:00:00.250Z'],
    ['1769860800250', '2026-01-31T12:00:00.250Z'],
  ])('is read from %s', (createdAt, iso) => {
    expect(new Date(readCreatedAt(createdAt) ?? Number.NaN).toISOString()).toBe(iso);
  });

  it.each([2026, 2028])(
    'is read for each day of %i, and for no day that the calendar does not have',
    (year) => {
      for (let month = 0; month <= 13; month += 1) {
        for (let day = 0; day <= 32; day += 1) {
          const parts = [year, ...[month, day].map((part) => String(part).padStart(2, '0'))];
          const createdAt = `${parts.join('-')}T23:59:59.999Z`;
          const time = new Date(Date.UTC(year, month - 1, day, 23, 59, 59, 999));
          const exists = time.getUTCMonth() === month - 1 && time.getUTCDate() === day;
          expect([createdAt, readCreatedAt(createdAt)]).toEqual([
            createdAt,
            exists ? time.getTime() : undefined,
          ]);
        }
      }
    },
  );

  it.each([
    '2026-02-30T12:00:00Z',
    '2026-13-01',
    '2026-01-31T25:00:00Z',
    'Sat, 31 Jan 2026 12:00:00',
    'yesterday',
    '20260131',
    20_260_131,
    0,
    -1_769_860_800,
    '12345678901',
    null,
    undefined,
    '',
  ])('cannot be read from %s', (createdAt) => {
    expect(readCreatedAt(createdAt)).toBeUndefined();
  });

  it.each([
    ['2026-01-31T12:00:00,5Z', true],
    ['2026-01-31T12:00:00+00', true],
    ['2026-01-31T12:00:00+01:00', false],
    ['2026-01-31T12:00:00', false],
    ['2026-02-30T12:00:00Z', false],
  ])('conforms only when it can be read and is in UTC: %s', (createdAt, conforms) => {
    const deviations = deviationsOf({ createdAt }).filter((deviation) => deviation.startsWith('createdAt'));
    expect(deviations).toEqual(conforms ? [] : ['createdAt is not an ISO 8601 UTC timestamp']);
  });
});
