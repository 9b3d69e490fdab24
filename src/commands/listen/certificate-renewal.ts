import { messageOf } from '../../errors.ts';
import type { Context } from '../../context.ts';
import type { CertificatePair } from '../../tls/types.ts';
import type { Certificate } from './certificate.ts';

/** Between two looks, in milliseconds: whoever renews a certificate does it days before its end. */
const everyMs = 3_600_000;

interface Renewal {
  /** What a receiver that starts now would use. */
  readonly read: () => Promise<Certificate>;
  readonly use: (pair: CertificatePair) => void;
  readonly signal: AbortSignal;
}

/**
 * Takes a renewed certificate into use while the receiver runs, until `signal` aborts. One that is no good changes
 * nothing.
 */
export async function keepRenewed(
  { tls: inUse }: Certificate,
  { read, use, signal }: Renewal,
  { clock, messages }: Pick<Context, 'clock' | 'messages'>,
): Promise<void> {
  for (let held = inUse; held !== undefined;) {
    try {
      await clock.sleep(everyMs, signal);
    } catch {
      return;
    }
    try {
      const { tls = held } = await read();
      if (tls.certPem === held.certPem && tls.keyPem === held.keyPem) continue;
      use(tls);
      held = tls;
      messages.note('renewed', 'the certificate was renewed: new connections get the new one');
    } catch (error) {
      messages.note('not renewed', `the certificate stays what it was: ${messageOf(error)}`);
    }
  }
}
