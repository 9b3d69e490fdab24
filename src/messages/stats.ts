import type { StatsProblem } from '../stats/problems.ts';
import type { Message, Messages } from './message.ts';

const bounds = {
  duration: 'a duration such as 30m',
  share: 'a share such as 5%, or a number',
  number: 'a number',
} as const;

const ofExpectation = (message: string, { measures }: Pick<StatsProblem, 'measures'>): Message => ({
  option: 'expect',
  message,
  hint: () =>
    `it is MEASURE<VALUE, also with <=, > or >=, and several are separated by commas: ${measures.join(', ')}; ` +
    "gap and p50 to p99 with a duration, the others up to backfilled with a share or a number, such as 'gap<30m,duplicate<5%,p95<10s'",
});

export const statsMessages: Messages<StatsProblem> = {
  'no-expectation': (found) => ofExpectation(`'${found.text}' is no expectation`, found),
  'no-measure': (found) => ofExpectation(`there is no measure '${found.name}'`, found),
  'no-bound': (found) =>
    ofExpectation(
      `${found.measure} is compared with ${bounds[found.wants]}, and '${found.value}' is none`,
      found,
    ),
};
