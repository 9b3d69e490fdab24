import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import { endpointOf, issuerOf, shakeHands } from '../check/endpoint.ts';
import { DataError, KeyRejectedError, type LeadsError } from '../errors.ts';
import type { Hint } from '../front.ts';
import { unsafeConnection } from '../service/client/network-failure.ts';
import type { Clock } from '../time/clock.ts';
import { formatDuration } from '../time/time-text.ts';
import { fail, pass, skip, warn, type CheckResult } from './check-result.ts';
import type { DialectReport } from './learn/examine-dialect.ts';

/** How requests reach the service: through `proxy` if there is one, trusting `authorities` (PEM) beside those of the system. */
export interface Connection {
  readonly baseUrl: URL;
  readonly proxy: URL | undefined;
  readonly authorities: readonly string[];
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export async function checkHostLookup({ baseUrl, proxy, signal }: Connection): Promise<CheckResult> {
  const name = 'service.dns';
  const host = baseUrl.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return pass(name, `${host} is an address`);
  if (proxy !== undefined) return skip(name, `the proxy ${proxy.host} looks names up`);
  try {
    const addresses = (await lookup(host, { all: true })).map(({ address }) => address);
    return pass(name, `${host} is ${addresses.join(', ')}`);
  } catch (error) {
    signal.throwIfAborted();
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'ENOTFOUND' ? 'there is no such host' : (code ?? message);
    const hint: Hint = (front) => `check the base URL (${front.get('base-url')}) and this machine's DNS`;
    return fail(name, `${host} cannot be looked up: ${why}`, hint);
  }
}

const dayMs = 86_400_000;

/** A certificate that is renewed automatically has more time left than these days. */
const fewDays = 14;

export async function checkServiceCertificate(connection: Connection): Promise<CheckResult> {
  const { baseUrl, proxy, authorities, timeoutMs, clock, signal } = connection;
  const name = 'service.tls';
  if (baseUrl.protocol !== 'https:') return skip(name, 'plain HTTP on this machine');
  if (proxy !== undefined) return skip(name, `the service is reached through the proxy ${proxy.host}`);
  const endpoint = endpointOf(baseUrl, { authorities, insecure: false }, undefined);
  const handshake = await shakeHands(endpoint, { timeoutMs, signal });
  signal.throwIfAborted();
  const code = certificateFault(handshake, endpoint.host);
  if (code !== undefined || !handshake.ok) {
    const cert = handshake.ok ? { cert: handshake.value.certificate } : {};
    const failure = unsafeConnection(baseUrl.origin, code ?? '', { message: code ?? '', ...cert });
    if (failure !== undefined) return fail(name, failure);
    const hint = 'is the service up, and is this its HTTPS port?';
    return fail(name, `the handshake failed (${code})`, hint);
  }
  const { protocol, certificate } = handshake.value;
  const days = Math.floor((Date.parse(certificate.valid_to) - clock.now()) / dayMs);
  const detail = `${protocol ?? 'TLS'}, issued by ${issuerOf(certificate)}, ${days} days left`;
  if (days >= fewDays) return pass(name, detail);
  return warn(name, detail, 'tell the service: its certificate ends soon');
}

/** The code of OpenSSL or node that says why the connection is not safe; undefined where it is safe. */
function certificateFault(
  handshake: Awaited<ReturnType<typeof shakeHands>>,
  host: string,
): string | undefined {
  if (!handshake.ok) return handshake.code;
  const { untrusted, certificate } = handshake.value;
  return untrusted ?? (checkServerIdentity(host, certificate) && 'ERR_TLS_CERT_ALTNAME_INVALID');
}

/** `error` is the one that ended the requests to the service; undefined where they were answered. */
export function checkKey(error: LeadsError | undefined): CheckResult {
  const name = 'service.key';
  if (error === undefined) return pass(name, 'accepted');
  const isOtherAnswer = error instanceof DataError && !(error instanceof KeyRejectedError);
  return isOtherAnswer ? skip(name, 'the answer does not show whether it is accepted') : fail(name, error);
}

/** A smaller difference proves nothing: a `Date` has whole seconds, and an answer takes time to arrive. */
const toleratedMs = 5000;
/** The default tolerance of a scheme, five minutes: a delivery that was signed at another time than that is rejected. */
const harmfulMs = 300_000;

export function checkClockDrift({
  drift,
  isReached,
}: Pick<DialectReport, 'drift' | 'isReached'>): CheckResult {
  const name = 'service.clock';
  if (drift === undefined)
    return skip(name, isReached ? 'the service sends no Date' : 'the service did not answer');
  const size = Math.abs(drift);
  if (size <= toleratedMs) return pass(name, "this machine's clock agrees with the service's");
  const side = drift > 0 ? 'behind' : 'ahead of';
  const harm = size > harmfulMs ? ': signed deliveries are rejected' : '';
  const detail = `this machine's clock is ${formatDuration(size)} ${side} the service's${harm}`;
  return (harm === '' ? warn : fail)(name, detail, 'set it by NTP, such as: timedatectl set-ntp true');
}
