import { describe, expect, it, test } from 'vitest';
import { parseInstant } from '../../src/time/time-text.ts';
import { formatInstant, instantOf, parseStretch, startOfDays, zoneNamed } from '../../src/time/zone.ts';

const iso = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString().replace(':00.000Z', 'Z');
const now = Date.UTC(2026, 10, 1, 23, 30);

describe('a stretch of the calendar', () => {
  test.each([
    ['2026-10', 'UTC', '2026-10-01T00:00Z', '2026-11-01T00:00Z'],
    // Summer time ends on October 25 and begins on March 29: such months are an hour longer, or shorter.
    ['2026-10', 'Europe/Madrid', '2026-09-30T22:00Z', '2026-10-31T23:00Z'],
    ['2026-03', 'Europe/Madrid', '2026-02-28T23:00Z', '2026-03-31T22:00Z'],
    ['2026-10-25', 'Europe/Madrid', '2026-10-24T22:00Z', '2026-10-25T23:00Z'],
    ['2026-03-29', 'Europe/Madrid', '2026-03-28T23:00Z', '2026-03-29T22:00Z'],
    ['2026-11-01', 'America/New_York', '2026-11-01T04:00Z', '2026-11-02T05:00Z'],
    // Cairo sets its clocks at midnight: the day begins at one o'clock. Havana has its midnight twice.
    ['2026-04-24', 'Africa/Cairo', '2026-04-23T22:00Z', '2026-04-24T21:00Z'],
    ['2026-11-01', 'America/Havana', '2026-11-01T04:00Z', '2026-11-02T05:00Z'],
    ['2026-04-05', 'Australia/Lord_Howe', '2026-04-04T13:00Z', '2026-04-05T13:30Z'],
    ['2026-06', 'Asia/Kolkata', '2026-05-31T18:30Z', '2026-06-30T18:30Z'],
    // Apia had no December 30 in 2011.
    ['2011-12-30', 'Pacific/Apia', '2011-12-30T10:00Z', '2011-12-30T10:00Z'],
    ['2026', 'UTC', '2026-01-01T00:00Z', '2027-01-01T00:00Z'],
    ['2028-02', 'UTC', '2028-02-01T00:00Z', '2028-03-01T00:00Z'],
    ['2026-W42', 'UTC', '2026-10-12T00:00Z', '2026-10-19T00:00Z'],
    ['2026-w43', 'Europe/Madrid', '2026-10-18T22:00Z', '2026-10-25T23:00Z'],
    ['2026-W01', 'UTC', '2025-12-29T00:00Z', '2026-01-05T00:00Z'],
    ['2026-W53', 'UTC', '2026-12-28T00:00Z', '2027-01-04T00:00Z'],
    ['2021-W01', 'UTC', '2021-01-04T00:00Z', '2021-01-11T00:00Z'],
    // It is November 2 in Madrid, and still October 31 nowhere.
    ['today', 'Europe/Madrid', '2026-11-01T23:00Z', '2026-11-02T23:00Z'],
    ['yesterday', 'Europe/Madrid', '2026-10-31T23:00Z', '2026-11-01T23:00Z'],
    ['yesterday', 'UTC', '2026-10-31T00:00Z', '2026-11-01T00:00Z'],
    ['last-month', 'Europe/Madrid', '2026-09-30T22:00Z', '2026-10-31T23:00Z'],
    ['this-month', 'UTC', '2026-11-01T00:00Z', '2026-12-01T00:00Z'],
    ['last-week', 'UTC', '2026-10-19T00:00Z', '2026-10-26T00:00Z'],
    ['last-week', 'Asia/Tokyo', '2026-10-25T15:00Z', '2026-11-01T15:00Z'],
    ['last-year', 'UTC', '2025-01-01T00:00Z', '2026-01-01T00:00Z'],
  ])('%s in %s', (text, zone, since, until) => {
    const stretch = parseStretch(text, now, zone);
    expect([iso(stretch?.since), iso(stretch?.until)]).toEqual([since, until]);
  });

  test.each([
    '2025-W53',
    '2026-W00',
    '2026-13',
    '2026-00',
    '2026-02-30',
    '2026-10-00',
    'next-month',
    '7d',
    '',
    '26',
  ])('is not %s', (text) => expect(parseStretch(text, now, 'UTC')).toBeUndefined());
});

describe('a time in a zone', () => {
  test.each([
    ['2026-10-31', 'Europe/Madrid', '2026-10-30T23:00Z'],
    ['2026-10', 'Europe/Madrid', '2026-09-30T22:00Z'],
    ['2026-07-01T12:00', 'Europe/Madrid', '2026-07-01T10:00Z'],
    ['2026-07-01T12:00Z', 'Europe/Madrid', '2026-07-01T12:00Z'],
    ['2026-07-01 12:00+05:30', 'Europe/Madrid', '2026-07-01T06:30Z'],
    // Skipped, and there twice.
    ['2026-03-29T02:30', 'Europe/Madrid', '2026-03-29T01:30Z'],
    ['2026-10-25T02:30', 'Europe/Madrid', '2026-10-25T00:30Z'],
    ['today', 'America/New_York', '2026-11-01T04:00Z'],
    ['1d', 'America/New_York', '2026-10-31T23:30Z'],
  ])('%s in %s', (text, zone, expected) => expect(iso(parseInstant(text, now, zone))).toBe(expected));

  it('is printed with its offset, on both sides of a change', () => {
    const change = Date.UTC(2026, 9, 25, 1);
    expect(formatInstant(change - 1000, 'Europe/Madrid')).toBe('2026-10-25T02:59:59+02:00');
    expect(formatInstant(change, 'Europe/Madrid')).toBe('2026-10-25T02:00:00+01:00');
    expect(formatInstant(change + 5, 'UTC', true)).toBe('2026-10-25T01:00:00.005Z');
    expect(formatInstant(change, 'America/St_Johns')).toBe('2026-10-24T22:30:00-02:30');
  });

  it('comes back from the wall as the same moment, all year round', () => {
    for (const zone of ['Europe/Madrid', 'America/New_York', 'Asia/Kathmandu', 'Africa/Cairo']) {
      for (let time = Date.UTC(2026, 0); time < Date.UTC(2027, 0); time += 86_400_000 / 3) {
        const start = startOfDays(time, 'day', zone);
        expect(start).toBeLessThanOrEqual(time);
        expect(startOfDays(time, 'day', zone, 1)).toBeGreaterThan(time);
        expect(startOfDays(start, 'day', zone)).toBe(start);
        expect(startOfDays(start - 1, 'day', zone, 1)).toBe(start);
      }
    }
  });

  it('has the name that the runtime gives it', () => {
    expect(zoneNamed('europe/madrid')).toBe('Europe/Madrid');
    expect(zoneNamed('Asia/Calcutta')).toBe('Asia/Calcutta');
    expect(zoneNamed('Mars/Olympus')).toBeUndefined();
    expect(instantOf(0, 'UTC')).toBe(0);
  });
});
