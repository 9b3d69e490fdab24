import { readFile } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import * as tls from 'node:tls';
import { isLoopback } from '../../config/base-url.ts';
import type { HttpClientOptions } from './http-client.ts';

export interface TlsTrust {
  readonly authorities: readonly string[];
  /** Any certificate at all: for receivers on this machine. */
  readonly insecure: boolean;
}

/** The usual authorities and, where there is one, another. */
export const trustIn = (authority: string | undefined): TlsTrust => ({
  authorities: authority === undefined ? [] : [authority],
  insecure: false,
});

/** The same as options of `tls.connect`. Callers make them once: parsing the usual authorities takes 30 ms. */
export function trustOptions({ authorities, insecure }: TlsTrust): tls.SecureContextOptions & {
  readonly secureContext?: tls.SecureContext;
  readonly rejectUnauthorized?: false;
} {
  if (insecure) return { rejectUnauthorized: false };
  return authorities.length === 0 ? {} : { secureContext: contextWith(authorities) };
}

/** Before node 22.15 there is no list of the certificates that `NODE_EXTRA_CA_CERTS` adds. */
function contextWith(authorities: readonly string[]): tls.SecureContext {
  const { getCACertificates } = tls as { getCACertificates?: (which: 'default') => string[] };
  return tls.createSecureContext({
    ca: [...(getCACertificates?.('default') ?? tls.rootCertificates), ...authorities],
  });
}

/**
 * The only authorities, as PEM, by which an https loopback address is trusted. Empty for other addresses, and as long as we
 * have no local authority: these are trusted as node does.
 */
export async function loopbackAuthorities(
  { protocol, hostname }: URL,
  { env, dataDir }: HttpClientOptions,
): Promise<string[]> {
  if (dataDir === undefined || protocol !== 'https:' || !isLoopback(hostname)) return [];
  const { readAuthority } = await import('../../tls/local-authority.ts');
  const authority = await readAuthority(dataDir);
  if (authority === undefined) return [];
  const file = env['NODE_EXTRA_CA_CERTS'];
  const extra = file ? await readFile(file, 'utf8').catch(() => '') : '';
  return [authority, ...(extra === '' ? [] : [extra])];
}

/**
 * node compares the names of a certificate with the host only where it trusts the authority. Of one that is for another host,
 * too, the error has the names as `otherNames`: no authority would mend that.
 */
export function nameOtherHost(socket: Duplex, host: string): void {
  if (!(socket instanceof tls.TLSSocket)) return;
  socket.prependOnceListener('secure', () => {
    const certificate = socket.getPeerCertificate();
    // A session that is resumed shows no certificate. Node keeps only sessions whose certificate it accepted.
    const isShown = Object.keys(certificate).length > 0;
    if (!isShown || tls.checkServerIdentity(host, certificate) === undefined) return;
    const otherNames = certificate.subjectaltname ?? String(certificate.subject.CN);
    socket.prependOnceListener('error', (error: Error) => void Object.assign(error, { otherNames }));
  });
}
