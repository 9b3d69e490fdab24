import { LeadsError } from '../../errors.ts';

/**
 * Something read the body before: its bytes are lost, and a signature covers bytes. A mistake of the application, which no
 * request can cause. `hint` says how to mend it in the framework that was recognized.
 */
export class ParsedBodyError extends LeadsError {
  /** @internal */
  static override readonly brand: string = 'ParsedBodyError';

  readonly code = 'parsed_body';
}
