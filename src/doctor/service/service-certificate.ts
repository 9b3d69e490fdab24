import { checkServerIdentity, type DetailedPeerCertificate } from 'node:tls';
import { endpointOf } from '../../check/wire/endpoint.ts';
import { shakeHands } from '../../check/wire/tls-handshake.ts';
import { type CheckResult, checkNamed } from '../check-result.ts';
import type { Connection } from './connection.ts';

const dayMs = 86_400_000;

/** A certificate that is renewed by itself is renewed a month before its end. */
const warnDays = 14;

/** The service's certificate: chain, name, days left. */
export async function checkServiceCertificate(connection: Connection): Promise<CheckResult> {
  const { baseUrl, proxy, authorities, timeoutMs, clock, signal } = connection;
  const check = checkNamed('service.tls');
  if (baseUrl.protocol !== 'https:') return check.skip('plain HTTP on this machine');
  if (proxy !== undefined) return check.skip(`the service is reached through the proxy ${proxy.host}`);
  const endpoint = endpointOf(baseUrl, { authorities, insecure: false }, undefined);
  const hands = await shakeHands(endpoint, {}, { timeoutMs, signal, clock });
  if (!hands.ok) {
    signal.throwIfAborted();
    return check.fail(
      `the handshake failed (${hands.code})`,
      'is the service up, and is this its HTTPS port?',
    );
  }
  const { certificate, protocol, untrusted } = hands;
  const issuer = issuerOf(certificate);
  const days = Math.floor((Date.parse(certificate.valid_to) - clock.now()) / dayMs);
  if (days < 0) {
    return check.fail(
      `the certificate ended ${-days} days ago`,
      'the service must renew it, or check the clock here',
    );
  }
  if (checkServerIdentity(endpoint.host, certificate) !== undefined) {
    const names = (certificate.subjectaltname ?? 'no name').slice(0, 200);
    return check.fail(`the certificate is for ${names}, not for ${endpoint.host}`, 'check the base URL');
  }
  if (untrusted !== undefined) {
    return check.fail(
      `the certificate of ${issuer} is not trusted (${untrusted})`,
      'if its authority is a private one, name its certificate in NODE_EXTRA_CA_CERTS',
    );
  }
  const seen = `${protocol ?? 'TLS'}, issued by ${issuer}, ${days} days left`;
  return days < warnDays ? check.warn(seen, 'tell the service: its certificate ends soon') : check.pass(seen);
}

const issuerOf = ({ issuer }: DetailedPeerCertificate): string =>
  [issuer.O, issuer.CN].flat().find((name) => name !== undefined && name !== '') ?? 'an unnamed authority';
