import * as tls from 'node:tls';

/** Which certificates are accepted. */
export interface TlsTrust {
  /** Authorities as PEM, in addition to the usual ones. */
  readonly authorities: readonly string[];
  /** Any certificate at all: for receivers on this machine. */
  readonly insecure: boolean;
}

/** As options of `tls.connect` and of what is built on it. Made once: parsing the usual authorities takes 30 ms. */
export function trustOptions({ authorities, insecure }: TlsTrust): tls.SecureContextOptions & {
  readonly secureContext?: tls.SecureContext;
  readonly rejectUnauthorized?: false;
} {
  if (insecure) return { rejectUnauthorized: false };
  return authorities.length === 0 ? {} : { secureContext: trusting(authorities) };
}

/** Before node 22.15 there is no list of the certificates that `NODE_EXTRA_CA_CERTS` adds. */
function trusting(authorities: readonly string[]): tls.SecureContext {
  const { getCACertificates } = tls as { getCACertificates?: (which: 'default') => string[] };
  return tls.createSecureContext({
    ca: [...(getCACertificates?.('default') ?? tls.rootCertificates), ...authorities],
  });
}
