import { describe } from '../../src/describe.ts';
import { LeadsError } from '../../src/errors.ts';

/** What the command line says of the error that a call throws: message and hint. */
export function said(call: () => unknown): string {
  try {
    call();
  } catch (thrown) {
    return textOf(thrown);
  }
  throw new Error('nothing was thrown');
}

/** The same of what a promise is rejected with. */
export const rejectionOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(() => {
    throw new Error('nothing was thrown');
  }, textOf);

function textOf(thrown: unknown): string {
  if (!(thrown instanceof LeadsError)) throw thrown;
  const { message, hint = '' } = describe(thrown);
  return `${message}; ${hint}`;
}
