import { connect, type DetailedPeerCertificate, type SecureVersion } from 'node:tls';
import { limitTime } from '../http/client/limit-time.ts';
import type { Endpoint } from './endpoint.ts';
import type { ExchangeOptions } from './exchange.ts';

/** The outcome of a TLS handshake; nothing is sent after it. */
export type Handshake =
  | {
      readonly ok: true;
      readonly protocol: string | null;
      readonly certificate: DetailedPeerCertificate;
      /** Why the certificate is not trusted, as OpenSSL's or node's code; undefined: it is. */
      readonly untrusted: string | undefined;
    }
  | { readonly ok: false; readonly code: string };

/** Versions and ciphers to offer; default: those of node. */
interface Offer {
  readonly minVersion?: SecureVersion;
  readonly maxVersion?: SecureVersion;
  readonly ciphers?: string;
}

/** Makes one handshake that accepts any certificate. Never rejects. */
export function shakeHands(
  { host, port, tls }: Endpoint,
  offer: Offer,
  { timeoutMs, signal }: ExchangeOptions,
): Promise<Handshake> {
  const limit = limitTime(timeoutMs, signal);
  // A context that exists already would override versions and ciphers.
  const { secureContext, ...options } = tls;
  const trust = Object.keys(offer).length === 0 && secureContext !== undefined ? { secureContext } : {};
  return new Promise<Handshake>((resolve) => {
    const finish = (result: Handshake): void => {
      limit.clear();
      resolve(result);
      socket.destroy();
    };
    const fail = (error: NodeJS.ErrnoException): void =>
      finish({ ok: false, code: limit.reason() ?? error.code ?? error.name });
    const socket = connect({ ...options, ...trust, ...offer, host, port, rejectUnauthorized: false }, () => {
      const error = socket.authorizationError as unknown;
      finish({
        ok: true,
        protocol: socket.getProtocol(),
        certificate: socket.getPeerCertificate(true),
        untrusted: socket.authorized ? undefined : codeOf(error),
      });
    });
    socket.on('error', fail);
    socket.on('close', () => fail(Object.assign(new Error('closed'), { code: 'closed' })));
    limit.signal.addEventListener('abort', () => socket.destroy(), { once: true });
  });
}

/** Node's types say that it is an `Error`; it is usually a string. */
const codeOf = (error: unknown): string =>
  error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? error.message) : String(error);

/** The name of the authority, as far as the certificate says one. */
export const issuerOf = ({ issuer }: DetailedPeerCertificate): string =>
  [issuer.O, issuer.CN].flat().find((name) => name !== undefined && name !== '') ?? 'an unnamed authority';
