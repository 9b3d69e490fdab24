import type { Authentic, Scheme } from '../scheme.ts';
import { checkTimestamp, type TimestampFormat } from '../timestamp.ts';

/** Why the time of an authentic delivery is rejected: read in the wrong unit, or clocks that differ. */
export function explainTime(authentic: Authentic, scheme: Scheme, now: number): readonly string[] {
  const { timestamp } = authentic;
  if (timestamp === undefined || checkTimestamp(authentic, scheme.toleranceMs, now).ok) return [];
  const isNearNow = (ms: number): boolean => Math.abs(ms - now) < 86_400_000;
  const remedy = (format: TimestampFormat): string =>
    scheme.name === 'custom' ? `'--timestamp-format ${format}'` : `${scheme.name} signs another unit`;
  if (isNearNow(timestamp / 1000)) {
    return [
      `The signature matches; its time is in milliseconds and was read as seconds: ${remedy('milliseconds')}.`,
    ];
  }
  if (isNearNow(timestamp * 1000)) {
    return [`The signature matches; its time is in seconds and was read as milliseconds: ${remedy('unix')}.`];
  }
  if (timestamp > now) {
    return [
      'The signature matches; only its time is ahead: compare the clocks of the sender and of this machine.',
    ];
  }
  return [
    'The signature matches; only its time is too old: a delivery sent again as it was, a slow queue, or clocks that differ.',
  ];
}
