import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import type { Context } from '../../context.ts';
import { ConfigError, describe, messageOf } from '../../errors.ts';
import { unreadable } from '../../files/errors.ts';
import { textOfSecret } from '../../files/read.ts';
import type { CurrentKeys } from '../../receiver/credentials.ts';
import { Secret } from '../../secret.ts';
import { slept } from '../../time/clock.ts';
import type { CertificatePair } from '../../tls/issue-certificate.ts';
import { ensureAuthority } from '../../tls/local-authority.ts';
import { checkCertificate, readUserCertificate } from '../../tls/user-certificate.ts';
import type { ListenOptions } from './command.ts';

/**
 * Files that are replaced while the receiver runs: secrets, a certificate with its key, the URL of the inbox. `subject` begins
 * the sentences about them: `the certificate was`. `use` puts the contents of the files into use and returns the message about
 * that, or undefined if they are in use already; it throws a `LeadsError`, and changes nothing, for contents that cannot be used.
 */
export interface RenewedFiles {
  readonly subject: string;
  readonly paths: readonly string[];
  readonly use: (contents: readonly Buffer[]) => string | undefined | Promise<string | undefined>;
}

const lookEveryMs = 2000;
/** Contents that cannot be used now may be later: a certificate may not be valid yet. */
const retryEveryMs = 10_000;

/**
 * Looks at the files until `signal` aborts, every few seconds and at once on SIGHUP, and uses new contents. A look may come while
 * a file is being written, so contents are used only if two looks in a row, or two reads on SIGHUP, found the same.
 */
export async function renewFiles(
  files: readonly RenewedFiles[],
  { clock, messages, onHangup }: Pick<Context, 'clock' | 'messages' | 'onHangup'>,
  signal: AbortSignal,
): Promise<void> {
  if (files.length === 0) return;
  const looks = files.map((watched) => lookAt(watched, { clock, messages }));
  let lastLook = Promise.resolve();
  // A SIGHUP during a look leads to another one after it.
  const lookAtAll = (isAsked: boolean): Promise<void> =>
    (lastLook = lastLook.then(async () => {
      for (const look of looks) await look(isAsked);
    }));
  const unsubscribe = onHangup(() => void lookAtAll(true));
  // The files may have been replaced, or a SIGHUP sent, while the run started.
  await lookAtAll(true);
  while (await slept(clock, lookEveryMs, signal)) await lookAtAll(false);
  unsubscribe();
  await lastLook;
}

/**
 * Returns the function that looks at the files once. `isAsked`: the operator says that the files are complete, or the run has
 * just read them, so they are used at once. Between two looks it knows the fingerprint of the last look, that of the contents
 * which were given to `use` last, and when these are tried once more because they could not be used.
 */
function lookAt(
  { subject, paths, use }: RenewedFiles,
  { clock, messages }: Pick<Context, 'clock' | 'messages'>,
): (isAsked: boolean) => Promise<void> {
  let lastFingerprint: string | undefined;
  let triedFingerprint: string | undefined;
  let retryAt = Infinity;
  let renewals = 0;
  return async (isAsked) => {
    if (isAsked) lastFingerprint = (await readAll(paths)).fingerprint;
    const { contents, fingerprint } = await readAll(paths);
    const isStable = fingerprint === lastFingerprint;
    lastFingerprint = fingerprint;
    const isTried = fingerprint === triedFingerprint;
    const isDue = isAsked || !isTried || clock.now() >= retryAt;
    if (!isStable || !isDue) return;
    triedFingerprint = fingerprint;
    try {
      if (contents instanceof ConfigError) throw contents;
      const message = await use(contents);
      retryAt = Infinity;
      if (message !== undefined) messages.note(`${subject} ${(renewals += 1)}`, message);
    } catch (error) {
      retryAt = clock.now() + retryEveryMs;
      if (isAsked || !isTried) messages.warn(`${subject} not renewed: ${describe(error).message}`);
    }
  };
}

/** The files of `--token-file` and `--secret-file`; undefined if none can be read twice. */
export async function secretFiles(
  { token, tokenFile, secret, secretFile }: ListenOptions,
  current: CurrentKeys,
): Promise<RenewedFiles | undefined> {
  // The keys of typed secrets come first, then those of files. Either tokens or secrets are given, not both.
  const typedSecrets = token.length + secret.length;
  const secretPaths = [...tokenFile, ...secretFile].map((path, i) => ({ path, keyIndex: typedSecrets + i }));
  const areReadable = await Promise.all(secretPaths.map(({ path }) => canBeReread(path)));
  const files = secretPaths.filter((_, i) => areReadable[i]);
  if (files.length === 0) return undefined;
  return {
    subject: 'the secrets were',
    paths: files.map(({ path }) => path),
    use(contents) {
      const { scheme, keys } = current;
      const next = [...keys];
      for (const [i, { keyIndex, path }] of files.entries()) {
        const text = textOfSecret(contents[i] ?? Buffer.alloc(0), `the secret in ${path}`);
        // The key of this file goes first: two files may hold the same secret.
        const sameKey = [keys[keyIndex], ...keys].find((key) => key?.secret.reveal() === text);
        next[keyIndex] = sameKey ?? scheme.key(new Secret(text));
      }
      if (next.every((key, i) => key === keys[i])) return undefined;
      current.replace(next);
      return 'the secrets were renewed: a delivery with one that was removed is rejected';
    },
  };
}

/** Whether a path can be read a second time: stdin cannot, and neither can a pipe of the shell. */
export async function canBeReread(path: string): Promise<boolean> {
  if (path === '-') return false;
  return stat(path).then(
    (stats) => stats.isFile(),
    () => false,
  );
}

/** The contents of the files, or the error of one that cannot be read. `fingerprint` is equal for equal contents or errors. */
async function readAll(
  paths: readonly string[],
): Promise<{ contents: readonly Buffer[] | ConfigError; fingerprint: string }> {
  const contents: Buffer[] = [];
  for (const path of paths) {
    try {
      contents.push(await readPlainFile(path));
    } catch (cause) {
      const error =
        cause instanceof ConfigError ? cause : new ConfigError(unreadable(path, cause), { cause });
      return { contents: error, fingerprint: messageOf(cause) };
    }
  }
  return { contents, fingerprint: contents.map((content) => content.toString('latin1')).join('\0') };
}

/** If a pipe has taken the place of the file, an ordinary `open` would wait for its writer. */
async function readPlainFile(path: string): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!(await file.stat()).isFile()) throw new ConfigError(`${path} is no plain file any more`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

export interface Certificate {
  /** PEM; undefined for plain HTTP. */
  readonly tls: CertificatePair | undefined;
  /** For `curl --cacert`; undefined when the certificate is not ours. */
  readonly caPath: string | undefined;
}

/** The certificate of `--cert` and `--key`, or one of the local authority, which is renewed if it is about to expire. */
export async function certificateFor(
  { http, cert, key }: Pick<ListenOptions, 'http' | 'cert' | 'key'>,
  { paths, clock }: Pick<Context, 'paths' | 'clock'>,
): Promise<Certificate> {
  if (http) return { tls: undefined, caPath: undefined };
  if (cert !== undefined && key !== undefined) {
    return { tls: await readUserCertificate(cert, key, clock.now()), caPath: undefined };
  }
  const { caPath, certPem, keyPem } = await ensureAuthority(paths.dataDir, clock);
  return { tls: { certPem, keyPem }, caPath };
}

/** An hour: certificates are renewed days before they expire. */
const checkEveryMs = 3_600_000;

const renewedMessage = 'the certificate was renewed: new connections get the new one';

type UseCertificate = (pair: CertificatePair) => void;

/** Renews a certificate of the local authority until `signal` aborts; ends at once for any other certificate. */
export async function renewOwnCertificate(
  { tls, caPath }: Certificate,
  use: UseCertificate,
  { paths, clock, messages }: Pick<Context, 'paths' | 'clock' | 'messages'>,
  signal: AbortSignal,
): Promise<void> {
  if (caPath === undefined) return;
  let certInUse = tls?.certPem;
  while (await slept(clock, checkEveryMs, signal)) {
    try {
      const next = await ensureAuthority(paths.dataDir, clock);
      if (next.certPem === certInUse) continue;
      use(next);
      certInUse = next.certPem;
      messages.note('renewed', renewedMessage);
    } catch (error) {
      messages.note('not renewed', `the certificate was not renewed: ${describe(error).message}`);
    }
  }
}

/** The files of `--cert` and `--key`, which are used again when they change; undefined if they cannot be read twice. */
export async function certificateFiles(
  { tls }: Certificate,
  use: UseCertificate,
  { cert, key }: Pick<ListenOptions, 'cert' | 'key'>,
  clock: Pick<Context['clock'], 'now'>,
): Promise<RenewedFiles | undefined> {
  if (cert === undefined || key === undefined) return undefined;
  if (!(await canBeReread(cert)) || !(await canBeReread(key))) return undefined;
  let pairInUse = tls;
  return {
    subject: 'the certificate was',
    paths: [cert, key],
    use(contents) {
      const [certPem = '', keyPem = ''] = contents.map((pem) => pem.toString('latin1'));
      if (certPem === pairInUse?.certPem && keyPem === pairInUse.keyPem) return undefined;
      const pair = { certPem, keyPem };
      checkCertificate(cert, key, pair, clock.now());
      use(pair);
      pairInUse = pair;
      return renewedMessage;
    },
  };
}
