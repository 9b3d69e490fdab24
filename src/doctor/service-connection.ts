import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import { endpointOf } from '../check/endpoint.ts';
import { issuerOf, shakeHands } from '../check/tls-handshake.ts';
import { tlsFailureOf } from '../service/client/tls-failure.ts';
import { limitTime } from '../http/client/limit-time.ts';
import type { Clock } from '../time/clock.ts';
import { checkNamed, type CheckResult } from './check-result.ts';

/** Whether the service's host name leads to an address. */
export async function checkHostLookup({
  baseUrl,
  proxy,
  timeoutMs,
  signal,
}: Connection): Promise<CheckResult> {
  const check = checkNamed('service.dns');
  const host = baseUrl.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return check.pass({ kind: 'host-is-address', host });
  if (proxy !== undefined) return check.skip({ kind: 'host-by-proxy', proxy: proxy.host });
  const limit = limitTime(timeoutMs, signal);
  try {
    const isOver = new Promise<never>((_, reject) => {
      limit.signal.addEventListener('abort', () => reject(new Error('timeout')), {
        once: true,
      });
    });
    const found = await Promise.race([lookup(host, { all: true }), isOver]);
    return check.pass({ kind: 'host-found', host, addresses: found.map(({ address }) => address) });
  } catch (error) {
    signal.throwIfAborted();
    const { code, message } = error as NodeJS.ErrnoException;
    return check.fail({ kind: 'service-host-unknown', host, why: code ?? message });
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
  if (baseUrl.protocol !== 'https:') return check.skip({ kind: 'plain-http' });
  if (proxy !== undefined) return check.skip({ kind: 'tls-by-proxy', proxy: proxy.host });
  const endpoint = endpointOf(baseUrl, { authorities, insecure: false }, undefined);
  const hands = await shakeHands(endpoint, {}, { timeoutMs, signal, clock });
  if (!hands.ok) {
    signal.throwIfAborted();
    const cause = tlsFailureOf(hands.code, { message: '' })?.cause;
    return check.fail({ kind: 'tls-failed', code: hands.code, cause });
  }
  const { certificate, protocol, untrusted } = hands;
  const issuer = issuerOf(certificate);
  const days = Math.floor((Date.parse(certificate.valid_to) - clock.now()) / dayMs);
  if (days < 0) return check.fail({ kind: 'certificate-ended', days: -days });
  if (checkServerIdentity(endpoint.host, certificate) !== undefined) {
    const names = (certificate.subjectaltname ?? 'no name').slice(0, 200);
    return check.fail({ kind: 'certificate-of-others', names, host: endpoint.host });
  }
  if (untrusted !== undefined) return check.fail({ kind: 'certificate-untrusted', issuer, why: untrusted });
  const result = days < warnDays ? 'warn' : 'pass';
  return check[result]({ kind: 'certificate-valid', protocol: protocol ?? 'TLS', issuer, days });
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
  if (drift === undefined) return check.skip({ kind: isReached ? 'clock-unsent' : 'no-answer' });
  const size = Math.abs(drift);
  if (size <= tolerated) return check.pass({ kind: 'clock-agrees' });
  const isHarmful = size > harmful;
  return check[isHarmful ? 'fail' : 'warn']({ kind: 'clock-drifts', drift, isHarmful });
}
