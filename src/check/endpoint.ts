import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { addressAttempts } from '../http/client/limit-time.ts';
import { type TlsTrust, trustOptions } from '../http/client/trust.ts';

/** The address of the receiver, and the certificates of it that are accepted. */
export interface Endpoint {
  readonly url: URL;
  readonly isSecure: boolean;
  readonly host: string;
  readonly port: number;
  readonly tls: ConnectionOptions;
  /** Any certificate is accepted. */
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
