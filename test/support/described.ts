import { describe, LeadsError } from '../../src/errors.ts';

/** What was thrown, with the message and the hint that the command line gives it. */
export function described(thrown: unknown): unknown {
  if (!(thrown instanceof LeadsError)) return thrown;
  const { message, hint } = describe(thrown);
  return Object.defineProperties(thrown, { message: { value: message }, hint: { value: hint } });
}

/** The same call, which throws what is described. */
export function describing<T>(call: () => T): () => T {
  return () => {
    try {
      return call();
    } catch (error) {
      throw described(error);
    }
  };
}

/** Message and hint that the command line gives what the call throws. */
export function messageAndHint(call: () => unknown): string {
  try {
    call();
  } catch (thrown) {
    if (!(thrown instanceof LeadsError)) throw thrown;
    const { message, hint = '' } = describe(thrown);
    return `${message}; ${hint}`;
  }
  throw new Error('nothing was thrown');
}
