import type { WireProblem } from '../../wire.ts';

/** A request failed. `unreachable`: there was no answer at all. */
export class Problem extends Error {
  override readonly name = 'Problem';

  readonly code: WireProblem['code'] | 'unreachable';
  readonly hint: string | undefined;

  constructor(code: WireProblem['code'] | 'unreachable', message: string, hint?: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }

  /** The program was started again, or the URL is of another one: only the URL that it printed helps. */
  get needsNewUrl(): boolean {
    return this.code === 'no-token' || this.code === 'wrong-key';
  }
}

/** Passes on anything that is not a `Problem`: it is a fault of the page. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  throw error;
}

export const isAbort = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'AbortError';

/** The answers of the server, by path. */
export interface AnswerSource {
  /** Throws a `Problem`, or an `AbortError` when it was cancelled. */
  get<Answer>(path: string, signal?: AbortSignal): Promise<Answer>;
}
