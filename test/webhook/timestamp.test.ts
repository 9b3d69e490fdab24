import { expect, test } from 'vitest';
import { checkTimestamp, formatTimestamp, parseTimestamp } from '../../src/webhook/timestamp.ts';

const now = Date.UTC(2026, 0, 15, 12);

test('a scheme with a tolerance needs a signed time, one without needs none', () => {
  expect(checkTimestamp({}, 1000, now)).toMatchObject({ ok: false, reason: 'missing_timestamp' });
  expect(checkTimestamp({}, undefined, now)).toEqual({ ok: true });
  expect(checkTimestamp({ timestamp: 0 }, undefined, now)).toEqual({ ok: true });
});

test.each([
  [100_500, '101 s'],
  [899_999, '900 s'],
  [900_000, '15 minutes'],
  [7_199_999, '120 minutes'],
  [7_200_000, '2 hours'],
  [172_799_999, '48 hours'],
  [172_800_000, '2 days'],
])('a time that is %i ms old is described as %s old', (age, words) => {
  const verdict = checkTimestamp({ timestamp: now - age }, 60_000, now);
  expect(verdict).toMatchObject({
    reason: 'stale_timestamp',
    detail: `it was signed ${words} ago, more than the tolerated 60 s`,
  });
});

test('a time that lies ahead is described as such', () => {
  expect(checkTimestamp({ timestamp: now + 1_200_000 }, 60_000, now)).toMatchObject({
    reason: 'future_timestamp',
    detail: 'it was signed 20 minutes in the future, more than the tolerated 60 s',
  });
});

test('a time is written as it is read, in whole units', () => {
  expect(formatTimestamp(1999.9, 'unix')).toBe('1');
  expect(formatTimestamp(1999.9, 'milliseconds')).toBe('1999');
  expect(formatTimestamp(1999, 'iso')).toBe('1970-01-01T00:00:01.999Z');
  for (const format of ['unix', 'milliseconds', 'iso'] as const) {
    expect(parseTimestamp(formatTimestamp(now, format), format)).toBe(now);
  }
});

test.each([
  ['unix', '0', 0],
  ['unix', '999999999999999', 999_999_999_999_999_000],
  ['unix', '1000000000000000', undefined],
  ['unix', '01', undefined],
  ['unix', '1 ', undefined],
  ['unix', '-1', undefined],
  ['unix', '1.0', undefined],
  ['unix', '９', undefined],
  ['milliseconds', '12345678901234567', undefined],
  ['iso', '2026-01-15T12:00:00.123456789Z', now + 123],
  ['iso', '2026-01-15T12:00:00.1234567890Z', undefined],
  ['iso', '2026-01-15T10:30:00-01:30', now],
  ['iso', '2026-01-15T12:00:00z', undefined],
  ['iso', '2026-01-15T12:00:00Z ', undefined],
  ['iso', '2026-01-15T12:00:00+0100', undefined],
  ['iso', '2026-1-15T12:00:00Z', undefined],
  ['iso', '2026-01-15', undefined],
  ['iso', '2026-01-15T12:00:00', undefined],
  ['iso', '2026-13-15T12:00:00Z', undefined],
  ['iso', '2026-01-15T12:00:00.Z', undefined],
] as const)('%s: %j is %s', (format, text, ms) => expect(parseTimestamp(text, format)).toBe(ms));
