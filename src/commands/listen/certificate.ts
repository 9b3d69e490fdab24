import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { ensureAuthority } from '../../tls/local-authority.ts';
import { readUserCertificate } from '../../tls/user-certificate.ts';
import type { ListenOptions } from './options.ts';

/** What the server shows to a client that connects. */
export interface Certificate {
  /** PEM; undefined for plain HTTP. */
  readonly tls: { readonly certPem: string; readonly keyPem: string } | undefined;
  /** For `curl --cacert`; undefined when the certificate is not ours. */
  readonly caPath: string | undefined;
}

/** The certificate that the flags name, or one of the local authority. Throws a `UsageError` for contradicting flags. */
export async function certificateFor(
  flags: ListenOptions,
  { paths, clock }: Pick<Context, 'paths' | 'clock'>,
): Promise<Certificate> {
  const { http, cert, key } = flags;
  if (http && (cert !== undefined || key !== undefined)) {
    throw new UsageError('--http contradicts --cert and --key');
  }
  if (http) return { tls: undefined, caPath: undefined };
  if (cert !== undefined && key !== undefined) {
    return { tls: await readUserCertificate(cert, key, clock.now()), caPath: undefined };
  }
  if (cert !== undefined || key !== undefined) throw new UsageError('--cert and --key go together');
  const { caPath, certPem, keyPem } = await ensureAuthority(paths.dataDir, clock);
  return { tls: { certPem, keyPem }, caPath };
}
