import { once, setMaxListeners } from 'node:events';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { addAbortSignal } from 'node:stream';
import {
  connect as connectTls,
  type ConnectionOptions,
  type DetailedPeerCertificate,
  TLSSocket,
} from 'node:tls';
import { addressAttempts } from '../http/client/http-client.ts';
import { withoutBrackets } from '../http/client/proxy.ts';
import { type TlsTrust, trustOptions } from '../http/client/trust.ts';
import { longestTimerMs } from '../time/time-text.ts';

/** The address of a receiver, and how a connection to it is made and trusted. */
export type Endpoint = ReturnType<typeof endpointOf>;

export function endpointOf(url: URL, trust: TlsTrust, proxy: URL | undefined) {
  const isSecure = url.protocol === 'https:';
  const host = withoutBrackets(url.hostname);
  const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port);
  const tls: ConnectionOptions = {
    ...addressAttempts,
    ...trustOptions(trust),
    ALPNProtocols: ['http/1.1'],
    // A name is sent for names only (RFC 6066, section 3).
    ...(isIP(host) === 0 && { servername: host }),
  };
  return { url, isSecure, host, port, tls, proxy };
}

/** A connection without a proxy, over TLS where the URL says so; destroyed when `signal` is aborted. */
export async function openSocket(
  { host, port, tls, isSecure }: Endpoint,
  signal: AbortSignal,
): Promise<Socket> {
  const socket = isSecure
    ? connectTls({ ...tls, host, port })
    : connectPlain({ ...addressAttempts, host, port });
  // A later error shows where the socket is read; without a listener node would throw it.
  socket.on('error', () => undefined);
  addAbortSignal(signal, socket);
  await once(socket, isSecure ? 'secureConnect' : 'connect');
  return socket;
}

/** The result of one handshake. `untrusted` is OpenSSL's or node's code that says why the certificate is not trusted. */
interface Handshake {
  readonly protocol: string | null;
  readonly certificate: DetailedPeerCertificate;
  readonly untrusted: string | undefined;
}

/** Makes one handshake that accepts any certificate. Never rejects. */
export const shakeHands = (endpoint: Endpoint, limit: TimeLimit): Promise<Timed<Handshake>> =>
  inTime(limit, async (signal) => {
    const tls = { ...endpoint.tls, rejectUnauthorized: false };
    const socket = await openSocket({ ...endpoint, tls }, signal);
    if (!(socket instanceof TLSSocket)) throw new TypeError('the endpoint speaks no TLS');
    const certificate = socket.getPeerCertificate(true);
    const untrusted = socket.authorized ? undefined : String(socket.authorizationError);
    const protocol = socket.getProtocol();
    socket.destroy();
    return { protocol, certificate, untrusted };
  });

export const issuerOf = ({ issuer }: DetailedPeerCertificate): string =>
  [issuer.O, issuer.CN].flat().find((name) => name !== undefined && name !== '') ?? 'an unnamed authority';

/** Milliseconds, and a signal that ends what is limited earlier. */
export interface TimeLimit {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** `code` is `timeout`, `aborted`, or the code of the system, of node or of TLS such as `ECONNRESET`. */
export type Timed<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly code: string };

/** Does work that ends when the signal it gets is aborted. Never rejects. */
export async function inTime<T>(
  { timeoutMs, signal: outer }: TimeLimit,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<Timed<T>> {
  const inner = new AbortController();
  const abort = (): void => inner.abort();
  const timer = setTimeout(abort, Math.min(timeoutMs, longestTimerMs));
  // Not `AbortSignal.any`: on node 20, signals joined by it stay in memory as long as the oldest of them.
  setMaxListeners(0, outer);
  if (outer.aborted) abort();
  outer.addEventListener('abort', abort);
  try {
    return { ok: true, value: await work(inner.signal) };
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    const end = outer.aborted ? 'aborted' : 'timeout';
    return { ok: false, code: inner.signal.aborted ? end : (code ?? name) };
  } finally {
    clearTimeout(timer);
    outer.removeEventListener('abort', abort);
  }
}
