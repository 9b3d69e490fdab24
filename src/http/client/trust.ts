import { readFile } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import * as tls from 'node:tls';
import { isLoopback } from '../../config/base-url.ts';
import type { HttpClientOptions } from './http-client.ts';

export interface TlsTrust {
  readonly authorities: readonly string[];
  /** Every certificate is accepted: for receivers on this machine. */
  readonly insecure: boolean;
}

/** The authorities that node trusts, and another one, where it is given. */
export const trustIn = (authority: string | undefined): TlsTrust => ({
  authorities: authority === undefined ? [] : [authority],
  insecure: false,
});

/** Options of `tls.connect` for the trust. Callers make them once: parsing node's own authorities takes 30 ms. */
export function trustOptions({ authorities, insecure }: TlsTrust): tls.SecureContextOptions & {
  readonly secureContext?: tls.SecureContext;
  readonly rejectUnauthorized?: false;
} {
  if (insecure) return { rejectUnauthorized: false };
  return authorities.length === 0 ? {} : { secureContext: contextWith(authorities) };
}

/**
 * The option `ca` replaces the authorities that node trusts, so the list begins with these. Before node 22.15, which has no
 * `getCACertificates`, those of `NODE_EXTRA_CA_CERTS` are not among them.
 */
function contextWith(authorities: readonly string[]): tls.SecureContext {
  const { getCACertificates } = tls as { getCACertificates?: (which: 'default') => string[] };
  return tls.createSecureContext({
    ca: [...(getCACertificates?.('default') ?? tls.rootCertificates), ...authorities],
  });
}

/**
 * The only authorities, as PEM, that are trusted for an https loopback address: the clients of the service pass them to the option
 * `ca` as they are. Empty for other addresses, and as long as there is no local authority: then node trusts its own authorities. As
 * `ca` replaces these, the file of `NODE_EXTRA_CA_CERTS` is read here; one that cannot be read adds nothing, as in node itself.
 */
export async function loopbackAuthorities(
  { protocol, hostname }: URL,
  { env, dataDir }: HttpClientOptions,
): Promise<string[]> {
  if (dataDir === undefined || protocol !== 'https:' || !isLoopback(hostname)) return [];
  const { readAuthority } = await import('../../tls/local-authority.ts');
  const authority = await readAuthority(dataDir);
  if (authority === undefined) return [];
  const extraFile = env['NODE_EXTRA_CA_CERTS'];
  const extraAuthorities = extraFile ? await readFile(extraFile, 'utf8').catch(() => '') : '';
  return [authority, ...(extraAuthorities === '' ? [] : [extraAuthorities])];
}

/**
 * Adds the names of a certificate for another host to the error of the handshake, as `otherNames`. Node compares the names only
 * where it trusts the authority; without them, a person would look for a missing authority, which helps nothing here.
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
