import { ConfigError, DataError, InterruptedError, messageOf, OutputError } from '../errors.ts';
import { updateLeads } from '../front.ts';

const commonFailures: Readonly<Record<string, string>> = {
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
  EPERM: 'it is not permitted',
  ETXTBSY: 'it is a running program',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
};

const systemFailures: Readonly<Record<string, string>> = {
  ...commonFailures,
  ENXIO: 'nothing takes what is written there',
  EBADF: 'it is not open for writing',
  EFBIG: 'it would become too large',
};

const writeHints: Readonly<Record<string, string>> = {
  ENOSPC: 'free some space, or write to another place',
  ENAMETOOLONG: 'the files beside it, such as NAME.checkpoint, need longer names',
};

type SystemError = Pick<NodeJS.ErrnoException, 'code'> & Partial<Error>;

export function cannotWrite(path: string, cause: SystemError, dirVariable?: string) {
  const { code = '', message = code } = cause;
  return new OutputError(`cannot write ${path}: ${systemFailures[code] ?? message}`, {
    hint: writeHints[code] ?? (dirVariable && `set ${dirVariable} to a directory that can be written`),
    cause: cause instanceof Error ? cause : undefined,
  });
}

/** The error for a failed write: an interruption where the reader went away. */
export function outputError(error: NodeJS.ErrnoException, place = 'the output', dirVariable?: string): Error {
  return error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED'
    ? new InterruptedError('SIGPIPE', { cause: error })
    : cannotWrite(place, error, dirVariable);
}

/** Runs a step, and turns the system's errors into those of `outputError`. */
export async function withOutputErrors<T>(
  path: string,
  step: () => Promise<T>,
  dirVariable?: string,
): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw isSystemError(error) ? outputError(error, path, dirVariable) : error;
  }
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && 'syscall' in error;
}

const readFailures: Readonly<Record<string, string>> = {
  ...commonFailures,
  ENOENT: 'there is no such file',
  EACCES: 'it is not readable for this user',
  Z_BUF_ERROR: 'the file is cut off',
  Z_DATA_ERROR: 'its compressed data is damaged',
};

/** Why the system refused, in words where it gave a known code. */
export const systemReason = (cause: unknown): string =>
  systemFailures[(cause as NodeJS.ErrnoException).code ?? ''] ?? messageOf(cause);

export function unreadable(source: string, cause: unknown): string {
  const { code } = cause as NodeJS.ErrnoException;
  return `cannot read ${source}: ${readFailures[code ?? ''] ?? code ?? messageOf(cause)}`;
}

export const outputIsSocket = (path: string) => new OutputError(`cannot write ${path}: it is a socket`);

export const outputNoRegularFile = (path: string) =>
  new OutputError(`cannot write ${path}: it is not a regular file`);

export const fileKeepsVanishing = (path: string) =>
  new OutputError(`cannot write ${path}: it is removed again and again`);

export function fileInUse(path: string, lockFile: string, pid: number, otherHost: string | undefined) {
  const place = otherHost === undefined ? '' : ` on ${otherHost}`;
  return new OutputError(`${path} is in use by another leads (process ${pid}${place})`, {
    hint:
      otherHost === undefined
        ? `wait for it to end, or remove ${lockFile} if process ${pid} is another program`
        : `if that machine no longer runs it, remove ${lockFile}`,
  });
}

export const addonNotLoaded = (directory: string, cause: unknown) =>
  new ConfigError(`cannot load the database's code from ${directory}: ${messageOf(cause)}`, {
    hint: 'set TMPDIR to a directory with 10 MB to spare, on a file system that is not mounted noexec',
    cause,
  });

export const addonAltered = () =>
  new ConfigError("the database's code has another digest than when it was built", {
    hint: 'the executable file may be damaged: copy or build it again',
  });

export const pageNotInstalled = (path: string, cause: unknown) =>
  new ConfigError(`the page is not installed: cannot read ${path}`, {
    hint: 'install leads again; in a clone, run npm run build',
    cause,
  });

const moveAway = 'move it away and start again; leads does not overwrite it';

export const stateUnreadable = (stateName: string, path: string, cause: unknown) =>
  new DataError(unreadable(`the ${stateName} ${path}`, cause), { cause });

export const stateNotJson = (stateName: string, path: string) =>
  new DataError(`the ${stateName} ${path} is not JSON`, { hint: moveAway });

export const stateOfNewerVersion = (stateName: string, path: string) =>
  new DataError(`the ${stateName} ${path} was made by a newer version of leads`, {
    kind: 'state-of-newer-version',
    hint: updateLeads,
  });

export const stateInvalid = (stateName: string, path: string, place: string, cause: unknown) =>
  new DataError(`the ${stateName} ${path} is not one that this leads can read, at '${place}'`, {
    hint: moveAway,
    cause,
  });
