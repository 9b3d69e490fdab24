import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readIfExists } from '../files/read.ts';
import { replaceFile } from '../files/replace.ts';
import type { Authority, CertificatePair } from './types.ts';

const renewBefore = 60 * 86_400_000;

/** The certificate that `authority` issued for this machine, kept at `path`; a new one when it is missing, damaged or expires soon. */
export async function ensureServerCertificate(
  path: string,
  authority: Authority,
  names: readonly string[],
  now: number,
): Promise<CertificatePair> {
  const existing = parseUsablePair(await readIfExists(path), authority, now);
  if (existing !== undefined) return existing;
  const { issueServerCertificate: issueServer } = await import('./issue-certificate.ts');
  const issued = issueServer(authority, [...names, '127.0.0.1', '::1'], now);
  // One file, so that certificate and key are replaced together.
  await replaceFile(path, issued.certPem + issued.keyPem, { mode: 0o600 });
  return issued;
}

function parseUsablePair(
  text: string | undefined,
  authority: Authority,
  now: number,
): CertificatePair | undefined {
  const keyStart = text?.indexOf('-----BEGIN PRIVATE KEY-----') ?? -1;
  if (text === undefined || keyStart < 0) return undefined;
  const [certPem, keyPem] = [text.slice(0, keyStart), text.slice(keyStart)];
  try {
    const certificate = new X509Certificate(certPem);
    const isUsable =
      certificate.verify(authority.certificate.publicKey) &&
      certificate.checkPrivateKey(createPrivateKey(keyPem)) &&
      Date.parse(certificate.validTo) - now > renewBefore &&
      Date.parse(certificate.validFrom) <= now;
    return isUsable ? { certPem, keyPem } : undefined;
  } catch {
    // Damaged, or not ours: a new one costs nothing, since clients trust the authority and not this certificate.
    return undefined;
  }
}
