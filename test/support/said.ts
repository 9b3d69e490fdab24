import { LeadsError } from '../../src/errors.ts';
import { describe } from '../../src/messages/command-line.ts';

/** What the command line says of the error that a call throws: message and hint. */
export function said(call: () => unknown): string {
  try {
    call();
  } catch (thrown) {
    if (!(thrown instanceof LeadsError)) throw thrown;
    const { message, hint = '' } = describe(thrown);
    return `${message}; ${hint}`;
  }
  throw new Error('nothing was thrown');
}
