import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { unreadable } from '../../files/errors.ts';
import type { Context } from '../../context.ts';
import { ConfigError, describe, messageOf } from '../../errors.ts';
import type { CurrentKeys } from '../../receiver/credentials.ts';
import { Secret } from '../../secret.ts';
import { slept } from '../../time/clock.ts';
import { textOfSecret } from '../../config/value-types.ts';
import type { ListenOptions } from './command.ts';

export interface RenewedFiles {
  /** The subject of a sentence: `the certificate was`. */
  readonly subject: string;
  readonly paths: readonly string[];
  /**
   * Uses the contents of the files, and gives the message about it; undefined: they are in use already. Throws a `LeadsError`,
   * and changes nothing, for contents that cannot be used.
   */
  readonly use: (contents: readonly Buffer[]) => string | undefined | Promise<string | undefined>;
}

/** Between two looks, and between two tries of what could not be used, in milliseconds. */
const lookEveryMs = 2000;
const tryEveryMs = 10_000;

/**
 * Looks at the files until `signal` aborts: at once on SIGHUP, and from time to time. What they hold is used when two looks
 * in a row found the same, since a look may come while they are written; on SIGHUP, when two reads in a row did.
 */
export async function renewFiles(
  files: readonly RenewedFiles[],
  { clock, messages, onHangup }: Pick<Context, 'clock' | 'messages' | 'onHangup'>,
  signal: AbortSignal,
): Promise<void> {
  if (files.length === 0) return;
  const looks = files.map((watched) => lookAt(watched, { clock, messages }));
  let looking = Promise.resolve();
  const lookAgain = (isAsked: boolean): Promise<void> =>
    (looking = looking.then(async () => {
      for (const look of looks) await look(isAsked);
    }));
  const unsubscribe = onHangup(() => void lookAgain(true));
  // The files, or a SIGHUP, may have come while the run started.
  await lookAgain(true);
  while (await slept(clock, lookEveryMs, signal)) await lookAgain(false);
  unsubscribe();
  await looking;
}

/** `isAsked`: the operator says that the files are complete, or the run has just read them. */
function lookAt(
  { subject, paths, use }: RenewedFiles,
  { clock, messages }: Pick<Context, 'clock' | 'messages'>,
): (isAsked: boolean) => Promise<void> {
  let lastDigest: string | undefined;
  let tried: string | undefined;
  let againAt = Infinity;
  let renewals = 0;
  return async (isAsked) => {
    let { read, digest } = await readAll(paths);
    if (isAsked) {
      // It reads twice instead of waiting for the next look, which decides where the files change between the reads.
      lastDigest = digest;
      ({ read, digest } = await readAll(paths));
    }
    const isStable = digest === lastDigest;
    lastDigest = digest;
    const isTried = digest === tried;
    if (!isStable || (!isAsked && isTried && clock.now() < againAt)) return;
    tried = digest;
    try {
      if (read instanceof ConfigError) throw read;
      const message = await use(read);
      againAt = Infinity;
      if (message !== undefined) messages.note(`${subject} ${(renewals += 1)}`, message);
    } catch (error) {
      againAt = clock.now() + tryEveryMs;
      if (isAsked || !isTried) messages.warn(`${subject} not renewed: ${describe(error).message}`);
    }
  };
}

/** The files of `--token-file` and `--secret-file`; undefined where no file can be read again. */
export async function secretFiles(
  { token, tokenFile, secret, secretFile }: ListenOptions,
  current: CurrentKeys,
): Promise<RenewedFiles | undefined> {
  // Behind the secrets that stand in the flags themselves.
  const first = token.length + secret.length;
  const secretPaths = [...tokenFile, ...secretFile].map((path, i) => ({ path, index: first + i }));
  const isRead = await Promise.all(secretPaths.map(({ path }) => isReadAgain(path)));
  const files = secretPaths.filter((_, i) => isRead[i]);
  if (files.length === 0) return undefined;
  return {
    subject: 'the secrets were',
    paths: files.map(({ path }) => path),
    use(contents) {
      const { scheme, keys } = current;
      const next = [...keys];
      for (const [i, { index, path }] of files.entries()) {
        const text = textOfSecret(contents[i] ?? Buffer.alloc(0), `the secret in ${path}`);
        // Its own first: one secret may stand in two files.
        const sameKey = [keys[index], ...keys].find((key) => key?.secret.reveal() === text);
        next[index] = sameKey ?? scheme.key(new Secret(text));
      }
      if (next.every((key, i) => key === keys[i])) return undefined;
      current.replace(next);
      return 'the secrets were renewed: a delivery with one that was removed is rejected';
    },
  };
}

/** Whether a path can be read again: stdin cannot, nor can what is no file, such as a pipe of the shell. */
export const isReadAgain = (path: string): Promise<boolean> =>
  path === '-'
    ? Promise.resolve(false)
    : stat(path).then(
        (stats) => stats.isFile(),
        () => false,
      );

/** The contents of the files, or the error of one that cannot be read; `digest` is equal for equal contents. */
async function readAll(
  paths: readonly string[],
): Promise<{ read: readonly Buffer[] | ConfigError; digest: string }> {
  const read: Buffer[] = [];
  for (const path of paths) {
    try {
      read.push(await readPlainFile(path));
    } catch (cause) {
      const error =
        cause instanceof ConfigError ? cause : new ConfigError(unreadable(path, cause), { cause });
      return { read: error, digest: messageOf(cause) };
    }
  }
  return { read, digest: read.map((content) => content.toString('latin1')).join('\0') };
}

/** Without waiting for a writer where a pipe has taken the place of the file. */
async function readPlainFile(path: string): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!(await file.stat()).isFile()) throw new ConfigError(`${path} is no plain file any more`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}
