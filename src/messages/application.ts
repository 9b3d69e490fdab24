import { LeadsError, type Problem } from '../errors.ts';
import { application } from '../front.ts';
import { type Message, sentenceIn } from './message.ts';

/**
 * The same error, with the texts that an application reads. `find`: the messages of all rooms, or of those whose code the
 * entry has loaded.
 */
export function forApplication(thrown: unknown, find: (problem: Problem) => Message | undefined): unknown {
  if (!(thrown instanceof LeadsError)) return thrown;
  forApplication(thrown.cause, find);
  const found = thrown.problem && find(thrown.problem);
  if (thrown.problem?.message !== undefined || found === undefined) return thrown;

  const message = sentenceIn(found, application);
  const stack = thrown.stack?.replace(thrown.message, () => message);
  const hidden = { configurable: true, writable: true };
  return Object.defineProperties(thrown, {
    message: { value: message, ...hidden },
    stack: { value: stack, ...hidden },
    hint: { value: found.hint?.(application), enumerable: true },
  });
}
