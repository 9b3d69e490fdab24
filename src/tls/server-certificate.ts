import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { replaceFile } from '../files/replace.ts';

/** PEM texts. */
export interface CertificatePair {
  readonly certPem: string;
  readonly keyPem: string;
}

/** An authority that can sign, with its certificate as it stands in its file. */
export interface Authority {
  readonly pem: string;
  readonly certificate: X509Certificate;
  readonly key: KeyObject;
}

const renewBefore = 60 * 86_400_000;

/** The certificate that `authority` gave this machine, kept at `path`; made anew when missing, damaged or near its end. */
export async function ensureServerCertificate(
  path: string,
  authority: Authority,
  names: readonly string[],
  now: number,
): Promise<CertificatePair> {
  const found = parseUsablePair(await readIfThere(path), authority, now);
  if (found !== undefined) return found;
  const { issueServerCertificate: issueServer } = await import('./issue-certificate.ts');
  const issued = issueServer(authority, [...names, '127.0.0.1', '::1'], now);
  // One file, so that certificate and key are replaced together.
  await replaceFile(path, issued.certPem + issued.keyPem, { mode: 0o600 });
  return issued;
}

function parseUsablePair(text: string | undefined, authority: Authority, now: number): CertificatePair | undefined {
  const at = text?.indexOf('-----BEGIN PRIVATE KEY-----') ?? -1;
  if (text === undefined || at < 0) return undefined;
  const [certPem, keyPem] = [text.slice(0, at), text.slice(at)];
  try {
    const certificate = new X509Certificate(certPem);
    const sound =
      certificate.verify(authority.certificate.publicKey) &&
      certificate.checkPrivateKey(createPrivateKey(keyPem)) &&
      Date.parse(certificate.validTo) - now > renewBefore &&
      Date.parse(certificate.validFrom) <= now;
    return sound ? { certPem, keyPem } : undefined;
  } catch {
    // Torn or foreign: a new one costs nothing, nobody trusts this one by itself.
    return undefined;
  }
}

export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
