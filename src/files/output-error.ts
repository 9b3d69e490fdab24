import { InterruptedError, OutputError } from '../errors.ts';
import type { FileProblem } from './problems.ts';

/** The error for a failed write: an `InterruptedError` when the reader closed the pipe, otherwise an `OutputError`. */
export function outputError(error: NodeJS.ErrnoException, what = 'the output', variable?: string): Error {
  if (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED') {
    return new InterruptedError('SIGPIPE', { cause: error });
  }
  const { code, message: detail } = error;
  return new OutputError({ kind: 'cannot-write', what, code, detail, variable } satisfies FileProblem, {
    cause: error,
  });
}

/**
 * Runs a step that writes `path`; what it throws becomes an `OutputError` that names the file, and the environment variable that
 * names another place for it.
 */
export async function withOutputErrors<T>(
  path: string,
  step: () => Promise<T>,
  variable?: string,
): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw isSystemError(error) ? outputError(error, path, variable) : error;
  }
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && 'syscall' in error;
}
