import { connect as connectPlain, type Socket } from 'node:net';
import {
  connect as connectTls,
  type ConnectionOptions,
  type DetailedPeerCertificate,
  type SecureVersion,
  TLSSocket,
} from 'node:tls';
import { addressAttempts, limitTime } from '../http/client/limit-time.ts';
import { type TlsTrust, trustOptions } from '../http/client/trust.ts';

export interface Endpoint {
  readonly url: URL;
  readonly isSecure: boolean;
  readonly host: string;
  readonly port: number;
  readonly tls: ConnectionOptions;
  readonly isInsecure: boolean;
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
    isInsecure: trust.insecure,
    proxy,
  };
}

/** A connection without a proxy, over TLS where the URL says so; destroyed when `signal` is aborted. */
export function openSocket({ host, port, tls, isSecure }: Endpoint, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = isSecure
      ? connectTls({ ...tls, host, port })
      : connectPlain({ ...addressAttempts, host, port });
    const stop = (): void => void socket.destroy(new Error('aborted'));
    signal.addEventListener('abort', stop, { once: true });
    socket.once('close', () => signal.removeEventListener('abort', stop));
    socket.once('error', reject);
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      socket.off('error', reject);
      // Later errors are handled where the socket is read; without a listener node would throw them.
      socket.on('error', () => undefined);
      resolve(socket);
    });
    if (signal.aborted) stop();
  });
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

/** Makes one handshake that accepts any certificate, by one old version where it is named. Never rejects. */
export async function shakeHands(
  endpoint: Endpoint,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
  version?: SecureVersion,
): Promise<Handshake> {
  const limit = limitTime(timeoutMs, signal);
  const { secureContext, ...options } = endpoint.tls;
  // A context that exists already would override the version. OpenSSL's default security level disables old ones here.
  const offer: ConnectionOptions | undefined =
    version === undefined
      ? secureContext && { secureContext }
      : { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' };
  try {
    const tls = { ...options, ...offer, rejectUnauthorized: false };
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
