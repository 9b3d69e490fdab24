import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import { endpointOf } from '../check/endpoint.ts';
import { issuerOf, shakeHands } from '../check/tls-handshake.ts';
import { limitTime } from '../http/client/limit-time.ts';
import type { Clock } from '../time/clock.ts';
import { checkNamed, type CheckResult } from './check-result.ts';
import { formatDuration } from '../time/time-text.ts';

/** Whether the service's host name leads to an address. */
export async function checkHostLookup({
  baseUrl,
  proxy,
  timeoutMs,
  signal,
}: Connection): Promise<CheckResult> {
  const check = checkNamed('service.dns');
  const host = baseUrl.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return check.pass(`${host} is an address`);
  if (proxy !== undefined) return check.skip(`the proxy ${proxy.host} looks names up`);
  const limit = limitTime(timeoutMs, signal);
  try {
    const isOver = new Promise<never>((_, reject) => {
      limit.signal.addEventListener('abort', () => reject(new Error('no answer came in time')), {
        once: true,
      });
    });
    const found = await Promise.race([lookup(host, { all: true }), isOver]);
    const addresses = found.map(({ address }) => address);
    const others = addresses.length > 2 ? ` and ${addresses.length - 2} more` : '';
    return check.pass(`${host} is ${addresses.slice(0, 2).join(', ')}${others}`);
  } catch (error) {
    signal.throwIfAborted();
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'ENOTFOUND' ? 'there is no such host' : (code ?? message);
    return check.fail({ kind: 'service-host-unknown', host, why });
  } finally {
    limit.clear();
  }
}

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

/** How this machine reaches the service. */
export interface Connection {
  readonly baseUrl: URL;
  readonly proxy: URL | undefined;
  /** Authorities that are trusted beside the usual ones, as PEM. */
  readonly authorities: readonly string[];
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** `Date` has whole seconds, and an answer takes a while; ms. */
const tolerated = 5000;
/** Signed deliveries are rejected beyond this, as `webhook.tolerance` is unless set; ms. */
const harmful = 300_000;

/** What is known of the service's clock. */
export interface ClockSight {
  /** The service's clock against ours, ms; undefined where it sends no `Date`. */
  readonly drift: number | undefined;
  /** Whether any answer came, a rejection included. */
  readonly isReached: boolean;
}

/** `isReached`: whether any answer came. */
export function checkClockDrift({ drift, isReached }: ClockSight): CheckResult {
  const check = checkNamed('service.clock');
  if (drift === undefined)
    return check.skip(isReached ? 'the service sends no Date' : 'the service did not answer');
  const size = Math.abs(drift);
  if (size <= tolerated) return check.pass("this machine's clock agrees with the service's");
  const seen = `this machine's clock is ${formatDuration(size)} ${drift > 0 ? 'behind' : 'ahead of'} the service's`;
  const hint = 'set it by NTP, such as: timedatectl set-ntp true';
  return size > harmful
    ? check.fail(`${seen}: signed deliveries are rejected`, hint)
    : check.warn(seen, hint);
}
