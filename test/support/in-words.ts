import { LeadsError } from '../../src/errors.ts';
import { describe } from '../../src/messages/command-line.ts';

/** The same error with the message and hint that the command line makes of it. */
function worded(thrown: unknown): unknown {
  if (!(thrown instanceof LeadsError) || thrown.problem === undefined) return thrown;
  const { message, hint } = describe(thrown);
  return Object.defineProperties(thrown, { message: { value: message }, hint: { value: hint } });
}

/** Rejects as the promise does, in the words of the command line. */
export const inWords = async <T>(promise: Promise<T>): Promise<T> => {
  try {
    return await promise;
  } catch (error) {
    throw worded(error);
  }
};

/** Throws as the function does, in the words of the command line. */
export function throwingInWords<T>(run: () => T): () => T {
  return () => {
    try {
      return run();
    } catch (error) {
      throw worded(error);
    }
  };
}
