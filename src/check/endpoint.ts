import { once, setMaxListeners } from 'node:events';
import { connect as connectPlain, type Socket } from 'node:net';
import { addAbortSignal } from 'node:stream';
import {
  connect as connectTls,
  type ConnectionOptions,
  type DetailedPeerCertificate,
  TLSSocket,
} from 'node:tls';
import { addressAttempts } from '../http/client/http-client.ts';
import { type TlsTrust, trustOptions } from '../http/client/trust.ts';
import { longestTimerMs } from '../time/time-text.ts';

/** The address of a receiver, and how a connection to it is made and trusted. */
export interface Endpoint {
  readonly url: URL;
  readonly isSecure: boolean;
  readonly host: string;
  readonly port: number;
  readonly tls: ConnectionOptions;
  readonly proxy: URL | undefined;
}

export function endpointOf(url: URL, trust: TlsTrust, proxy: URL | undefined): Endpoint {
  const isSecure = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port);
  const isAddress = /^[\d.]+$|:/.test(host);
  return {
    url,
    isSecure,
    host,
    port,
    // A name is sent for names only (RFC 6066, section 3).
    tls: {
      ...addressAttempts,
      ...trustOptions(trust),
      ALPNProtocols: ['http/1.1'],
      ...(isAddress ? {} : { servername: host }),
    },
    proxy,
  };
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

export type Handshake =
  | {
      readonly ok: true;
      readonly protocol: string | null;
      readonly certificate: DetailedPeerCertificate;
      /** Why the certificate is not trusted, as OpenSSL's or node's code; undefined: it is. */
      readonly untrusted: string | undefined;
    }
  | { readonly ok: false; readonly code: string };

/** Makes one handshake that accepts any certificate. Never rejects. */
export async function shakeHands(
  endpoint: Endpoint,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<Handshake> {
  const limit = limitTime(timeoutMs, signal);
  try {
    const tls = { ...endpoint.tls, rejectUnauthorized: false };
    const socket = await openSocket({ ...endpoint, tls }, limit.signal);
    if (!(socket instanceof TLSSocket)) throw new TypeError('the endpoint speaks no TLS');
    const certificate = socket.getPeerCertificate(true);
    const untrusted = socket.authorized ? undefined : String(socket.authorizationError);
    const protocol = socket.getProtocol();
    socket.destroy();
    return { ok: true, protocol, certificate, untrusted };
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    return { ok: false, code: limit.reason() ?? code ?? name };
  } finally {
    limit.clear();
  }
}

export const issuerOf = ({ issuer }: DetailedPeerCertificate): string =>
  [issuer.O, issuer.CN].flat().find((name) => name !== undefined && name !== '') ?? 'an unnamed authority';

export interface TimeLimit {
  readonly signal: AbortSignal;
  /** Why the signal was aborted; undefined: it was not. */
  reason(): 'timeout' | 'aborted' | undefined;
  clear(): void;
}

/** A limit of `timeoutMs` milliseconds that ends early when `outer` is aborted. */
export function limitTime(timeoutMs: number, outer: AbortSignal | undefined): TimeLimit {
  const inner = new AbortController();
  const abort = (): void => inner.abort();
  const timer = setTimeout(abort, Math.min(timeoutMs, longestTimerMs));
  // Not `AbortSignal.any`: on node 20, signals joined by it stay in memory as long as the oldest of them.
  if (outer !== undefined) setMaxListeners(0, outer);
  if (outer?.aborted === true) abort();
  outer?.addEventListener('abort', abort);
  return {
    signal: inner.signal,
    reason: () => (outer?.aborted === true ? 'aborted' : inner.signal.aborted ? 'timeout' : undefined),
    clear: () => {
      clearTimeout(timer);
      outer?.removeEventListener('abort', abort);
    },
  };
}
