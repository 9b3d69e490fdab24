import type { Context } from '../../context.ts';
import { describe } from '../../errors.ts';
import { slept } from '../../time/clock.ts';
import type { CertificatePair } from '../../tls/issue-certificate.ts';
import { ensureAuthority } from '../../tls/local-authority.ts';
import { checkCertificate, readUserCertificate } from '../../tls/user-certificate.ts';
import type { ListenOptions } from './command.ts';
import { canBeReread, type RenewedFiles } from './renewed-files.ts';

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
