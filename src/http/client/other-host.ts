import type { Duplex } from 'node:stream';
import { checkServerIdentity, TLSSocket } from 'node:tls';

/**
 * node compares the names of a certificate with the host only where it trusts the authority. Of one that is for another host,
 * too, the error has the names as `otherNames`: no authority would mend that.
 */
export function nameOtherHost(socket: Duplex, host: string): void {
  if (!(socket instanceof TLSSocket)) return;
  // Before node itself looks at the certificate, and ends the connection.
  socket.prependOnceListener('secure', () => {
    const certificate = socket.getPeerCertificate();
    // A session that is resumed shows no certificate: it was looked at before.
    const isShown = Object.keys(certificate).length > 0;
    if (!isShown || checkServerIdentity(host, certificate) === undefined) return;
    const otherNames = certificate.subjectaltname ?? String(certificate.subject.CN);
    socket.prependOnceListener('error', (error: Error) => void Object.assign(error, { otherNames }));
  });
}
