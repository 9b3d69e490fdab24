import type { WireProblem } from '../../wire.ts';

/** Why a request failed. The code `unreachable` means that there was no response at all. */
export class Problem extends Error {
  override readonly name = 'Problem';

  readonly code: WireProblem['code'] | 'unreachable';
  readonly hint: string | undefined;

  constructor(code: WireProblem['code'] | 'unreachable', message: string, hint?: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }

  /** After a restart of the program, or with an old URL, only the URL that it printed last helps. */
  get needsNewUrl(): boolean {
    return this.code === 'no-token' || this.code === 'wrong-key';
  }
}

/** Rethrows any other error, because it is a fault of the page. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  throw error;
}
