import type { Context } from '../../context.ts';
import { describe } from '../../errors.ts';
import { slept } from '../../time/clock.ts';
import type { CertificatePair } from '../../tls/issue-certificate.ts';
import { ensureAuthority } from '../../tls/local-authority.ts';
import { checkCertificate, readUserCertificate } from '../../tls/user-certificate.ts';
import type { ListenOptions } from './command.ts';
import { isReadAgain, type RenewedFiles } from './renewed-files.ts';

export interface Certificate {
  /** PEM; undefined for plain HTTP. */
  readonly tls: CertificatePair | undefined;
  /** For `curl --cacert`; undefined when the certificate is not ours. */
  readonly caPath: string | undefined;
}

/** The certificate of `--cert` and `--key`, or one of the local authority, which makes a new one where the last is about to expire. */
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

/** Between two checks, in milliseconds: certificates are renewed days before they expire. */
const checkEveryMs = 3_600_000;

const renewed = 'the certificate was renewed: new connections get the new one';

type UseCertificate = (pair: CertificatePair) => void;

export async function renewOwnCertificate(
  { tls, caPath }: Certificate,
  use: UseCertificate,
  { paths, clock, messages }: Pick<Context, 'paths' | 'clock' | 'messages'>,
  signal: AbortSignal,
): Promise<void> {
  if (caPath === undefined) return;
  for (let inUse = tls?.certPem; await slept(clock, checkEveryMs, signal);) {
    try {
      const next = await ensureAuthority(paths.dataDir, clock);
      if (next.certPem === inUse) continue;
      use(next);
      inUse = next.certPem;
      messages.note('renewed', renewed);
    } catch (error) {
      messages.note('not renewed', `the certificate was not renewed: ${describe(error).message}`);
    }
  }
}

/** The files of `--cert` and `--key`; undefined where they cannot be read again. */
export async function certificateFiles(
  { tls }: Certificate,
  use: UseCertificate,
  { cert, key }: Pick<ListenOptions, 'cert' | 'key'>,
  clock: Pick<Context['clock'], 'now'>,
): Promise<RenewedFiles | undefined> {
  if (cert === undefined || key === undefined) return undefined;
  if (!(await isReadAgain(cert)) || !(await isReadAgain(key))) return undefined;
  let inUse = tls;
  return {
    subject: 'the certificate was',
    paths: [cert, key],
    use(contents) {
      const [certPem = '', keyPem = ''] = contents.map((pem) => pem.toString('latin1'));
      if (certPem === inUse?.certPem && keyPem === inUse.keyPem) return undefined;
      const pair = { certPem, keyPem };
      checkCertificate(cert, key, pair, clock.now());
      use(pair);
      inUse = pair;
      return renewed;
    },
  };
}
