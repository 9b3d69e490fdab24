import type { Messages } from '../../output/messages.ts';
import { grouped } from '../../output/terminal/progress.ts';
import type { CheckedExpectation } from '../../stats/expectations.ts';
import { formatDuration } from '../../time/time-text.ts';

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

/** What was expected and what is, on stderr; what does not hold is said under `--quiet` too, for cron's mail. */
export function sayChecked(
  checked: readonly CheckedExpectation[],
  messages: Pick<Messages, 'say' | 'warn'>,
): void {
  const doesHold = ({ holds, isDoubtful }: CheckedExpectation): boolean => holds && !isDoubtful;
  const verdictLast = checked.toSorted((a, b) => Number(doesHold(b)) - Number(doesHold(a)));
  for (const { expectation, holds, seen, isDoubtful } of verdictLast) {
    const { text, unit, measure } = expectation;
    const found = seen === undefined ? nothing(measure === 'gap') : `it is ${figureText(seen, unit)}`;
    if (isDoubtful)
      messages.warn(`nobody knows whether ${text} holds: ${found} of what is kept, and more may have come`);
    else if (holds) messages.say(`${text} holds: ${found}`);
    else messages.warn(`${text} does not hold: ${found}`);
  }
}

const nothing = (isGap: boolean): string =>
  isGap ? 'nothing was ever received' : 'nothing was received to measure it by';
