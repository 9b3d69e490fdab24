import { messageOf } from '../../errors.ts';
import type { Context } from '../../context.ts';
import type { CertificatePair } from '../../tls/types.ts';
import type { Certificate } from './certificate.ts';

/** Between two checks, in milliseconds: certificates are renewed days before they expire. */
const checkEveryMs = 3_600_000;

interface CertificateRenewal {
  /** The certificate that a receiver would use if it started now. */
  readonly read: () => Promise<Certificate>;
  readonly use: (pair: CertificatePair) => void;
  readonly signal: AbortSignal;
}

/** Uses a renewed certificate while the receiver runs, until `signal` aborts. An invalid one changes nothing. */
export async function renewCertificate(
  { tls: first }: Certificate,
  { read, use, signal }: CertificateRenewal,
  { clock, messages }: Pick<Context, 'clock' | 'messages'>,
): Promise<void> {
  for (let inUse = first; inUse !== undefined;) {
    try {
      await clock.sleep(checkEveryMs, signal);
    } catch {
      return;
    }
    try {
      const { tls = inUse } = await read();
      if (tls.certPem === inUse.certPem && tls.keyPem === inUse.keyPem) continue;
      use(tls);
      inUse = tls;
      messages.note('renewed', 'the certificate was renewed: new connections get the new one');
    } catch (error) {
      messages.note('not renewed', `the certificate was not renewed: ${messageOf(error)}`);
    }
  }
}
