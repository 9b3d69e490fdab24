import { grouped } from '../../../output/terminal/progress.ts';
import { formatDuration } from '../../../time/duration.ts';

/** A figure for people: durations in milliseconds, shares from 0 to 1. */
export function figureText(value: number, unit: 'duration' | 'share' | 'number'): string {
  if (unit === 'duration') return formatDuration(value);
  if (unit === 'share') return `${decimals(value * 100, 2)}%`;
  return Number.isInteger(value) ? grouped(value) : decimals(value, 2);
}

const decimals = (value: number, most: number): string => String(Number(value.toFixed(most)));

/** In whole percent, where a part of something never looks like nothing, nor like all of it. */
export function shareText(count: number, total: number): string {
  if (total <= 0) return '';
  const percent = Math.round((count / total) * 100);
  if (percent === 0 && count > 0) return '<1%';
  return percent === 100 && count < total ? '>99%' : `${percent}%`;
}

/** From one count to the next, in percent of the first; no number where there was nothing. */
export function changeText(before: number, now: number): string {
  if (before === now) return '=';
  if (before === 0) return 'new';
  const percent = Math.round(((now - before) / before) * 100);
  return percent > 0 ? `+${grouped(percent)}%` : percent < 0 ? `${percent}%` : now > before ? '+<1%' : '-<1%';
}
