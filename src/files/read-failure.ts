import { messageOf } from '../errors.ts';

const sentences: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'it is not readable for this user',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of its path is not a directory',
};

/** Why a file could not be read, in words. */
export function readFailure(cause: unknown): string {
  const { code } = cause as NodeJS.ErrnoException;
  return sentences[code ?? ''] ?? code ?? messageOf(cause);
}
