import { LeadsError, messageOf, type Problem } from '../errors.ts';
import { inboxMessages } from './inbox.ts';
import { type Catalogue, type Message, messageIn, sentenceIn, type Words } from './message.ts';
import { receiverMessages } from './receiver.ts';

/** All rooms' messages by kind. */
const catalogue: Catalogue = {
  ...inboxMessages,
  ...receiverMessages,
};

export const messageFor = (problem: Problem): Message | undefined => messageIn(catalogue, problem);

/** The neutral sentence of what was found. */
export const problemSentence = (found: Problem): string => messageFor(found)?.message ?? found.kind;

/** The neutral sentence of what was thrown: it names no flag and no option, unless in the words of a front. */
export function sentenceOf(thrown: unknown, words?: Words): string {
  const problem = thrown instanceof LeadsError ? thrown.problem : undefined;
  const found = problem && messageFor(problem);
  if (found === undefined) return messageOf(thrown);
  return words === undefined ? found.message : sentenceIn(found, words);
}

/** What the user can do about it, in the words of a front. */
export function hintOf(thrown: unknown, words: Words): string | undefined {
  if (!(thrown instanceof LeadsError)) return undefined;
  return thrown.problem === undefined ? thrown.hint : messageFor(thrown.problem)?.hint?.(words);
}

/** Sentence and hint as one text, as a warning says them. */
export function warningOf(problem: Problem, words: Words): string {
  const { message, hint, join = '. ' } = messageFor(problem) ?? { message: problem.kind };
  const advice = hint?.(words);
  return advice === undefined ? message : `${message}${join}${advice}`;
}
