import type { WireRow } from '../../wire.ts';

// Times are local, since people compare them with a clock on the wall; the exact time, in UTC, is beside them.

const timeOfDay = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const dayAndTime = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});
const dayOnly = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' });

/** `14:02:11` of today, `21 Nov, 14:02` of this year, or `21 Nov 2024`. */
export function shortTime(ms: number, now: number): string {
  const [time, today] = [new Date(ms), new Date(now)];
  if (time.toDateString() === today.toDateString()) return timeOfDay.format(time);
  return (time.getFullYear() === today.getFullYear() ? dayAndTime : dayOnly).format(time);
}

export const minuteTime = (time: number): string => dayAndTime.format(time);

export const exactTime = (time: number): string =>
  new Date(time).toISOString().replace('T', ' ').replace('Z', ' UTC');

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const;

export function durationText(ms: number): string {
  const [unit, length] = units.find(([, length]) => ms >= length) ?? ['ms', 1];
  const value = ms / length;
  return `${value < 10 && unit !== 'ms' ? Number(value.toFixed(1)) : Math.round(value)} ${unit}`;
}

export function sizeText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

const grouped = new Intl.NumberFormat('en');

export const countText = (count: number): string => grouped.format(count);

export const plural = (count: number, word: string, words = `${word}s`): string =>
  `${countText(count)} ${count === 1 ? word : words}`;

/** Texts of problems begin in lower case and have no full stop. */
export const sentence = (text: string): string => `${capitalized(text)}${/[.!?:]$/.test(text) ? '' : '.'}`;

export const capitalized = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

export function deliveryTitle({ seq, name, leadId }: Pick<WireRow, 'seq' | 'name' | 'leadId'>): string {
  return [name, leadId].find((text) => text !== null && text.trim() !== '') ?? `Delivery ${seq}`;
}
