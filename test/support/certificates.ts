import { createPrivateKey, X509Certificate } from 'node:crypto';
import { issueAuthority, issueServerCertificate } from '../../src/tls/issue-certificate.ts';

export interface IssuedCertificate {
  readonly cert: string;
  readonly key: string;
  /** Who issued it, as PEM: an authority that nobody knows. */
  readonly authority: string;
}

/** A certificate for these hosts, issued at that time, which is valid for a year. */
export function certificateFor(hosts: readonly string[], issuedAt: number): IssuedCertificate {
  const { certPem, keyPem } = issueAuthority(['localhost', ...hosts], issuedAt);
  const issuer = { certificate: new X509Certificate(certPem), key: createPrivateKey(keyPem) };
  const leaf = issueServerCertificate(issuer, hosts, issuedAt);
  return { cert: leaf.certPem, key: leaf.keyPem, authority: certPem };
}
