import { InterruptedError, OutputError } from '../errors.ts';

/** The error for a failed write: an `InterruptedError` when the reader closed the pipe, otherwise an `OutputError`. */
export function outputError(error: NodeJS.ErrnoException, what = 'the output'): Error {
  if (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED') {
    return new InterruptedError('SIGPIPE', { cause: error });
  }
  const reason: Readonly<Record<string, string>> = {
    ENOSPC: 'no space left on the device',
    EDQUOT: 'the disk quota is used up',
    EIO: 'I/O error',
    EACCES: 'permission denied',
    EROFS: 'the file system is read-only',
    ENOENT: 'no such directory',
    EISDIR: 'it is a directory',
    ENOTDIR: 'a part of its path is not a directory',
    ENAMETOOLONG: 'its name is too long',
    ELOOP: 'its links lead to each other',
    ENXIO: 'nothing takes what is written there',
    EBADF: 'it is not open for writing',
    EPERM: 'it is not permitted',
    EFBIG: 'it would become too large',
    ETXTBSY: 'it is a running program',
    EMFILE: 'too many files are open',
    ENFILE: 'too many files are open',
  };
  const why = reason[error.code ?? ''] ?? error.message;
  return new OutputError(`cannot write ${what}: ${why}`, {
    cause: error,
    hint: hints[error.code ?? ''],
  });
}

const hints: Readonly<Record<string, string>> = {
  ENOSPC: 'free some space, or write to another place',
  ENAMETOOLONG: 'the files beside it, such as NAME.checkpoint, need longer names',
};

/** Runs a step that writes `path`; what it throws becomes an `OutputError` that names the file. */
export async function withOutputErrors<T>(path: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw isSystemError(error) ? outputError(error, path) : error;
  }
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && 'syscall' in error;
}
