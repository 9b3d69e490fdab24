import type { Messages } from '../../../output/messages.ts';
import type { CheckedExpectation } from '../../../stats/check-expectations.ts';
import { figureText } from './figure-text.ts';

/** What was expected and what is, on stderr; what does not hold is said under `--quiet` too, for cron's mail. */
export function sayChecked(
  checked: readonly CheckedExpectation[],
  messages: Pick<Messages, 'say' | 'warn'>,
): void {
  for (const { expectation, holds, seen, isDoubtful } of checked) {
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
