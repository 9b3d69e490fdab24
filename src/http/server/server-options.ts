import { readFile } from 'node:fs/promises';
import type { Clock } from '../../time/clock.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import type { Problem } from '../../errors.ts';
import type { Rejection } from '../../webhook/delivery-answer.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Connection } from './connections.ts';

export interface FailedHandshake {
  readonly remote: string;
  readonly code: string;
  readonly problem: Problem;
}

/**
 * `addressOption`: the option of the run that names host and port together, for errors about them. `tls`: PEM texts; undefined for
 * plain HTTP.
 */
export interface HttpServerOptions {
  readonly host: string;
  readonly port: number;
  readonly addressOption?: string | undefined;
  readonly tls: { readonly certPem: string; readonly keyPem: string } | undefined;
  readonly limits?: Partial<Limits> | undefined;
  readonly clock: Pick<Clock, 'now'>;
  /** Sent with every answer, those to malformed requests included; an answer's own ones go first. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Called for each complete request; its answer is sent. When it rejects, the answer is 503 and `onError` is called. */
  readonly handle: (delivery: Delivery) => Promise<Answer>;
  /**
   * Rejects a request before its whole body is received, or returns undefined: the delivery holds the first bytes of its body at
   * most. Called where more than `limits.uncheckedBytes` would be kept, and before 100 Continue. Default: rejects nothing.
   */
  readonly checkHead?: ((delivery: Delivery) => Rejection | undefined) | undefined;
  /** The answer to a request that is rejected before it is complete, or could not be parsed. Default: as a receiver answers. */
  readonly rejectionAnswer?: ((rejected: Rejection) => Answer) | undefined;
  readonly onError: (error: unknown, delivery: Delivery) => void;
  /** Called for a request that is rejected before it is a complete delivery, with the part of it that was received. */
  readonly onRejected?: ((rejected: Rejection, received: Delivery) => void) | undefined;
  readonly onFailedHandshake?: ((failed: FailedHandshake) => void) | undefined;
  readonly onFull?: ((connectionLimit: number) => void) | undefined;
}

/** A response to send: `body` goes as JSON, unless a `text` takes its place. */
export interface Answer {
  readonly status: number;
  readonly body?: object | undefined;
  readonly text?: { readonly type: string; readonly content: string | Uint8Array } | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface HttpServer {
  readonly url: string;
  readonly port: number;
  /** From now on each answer is the last on its connection, so that clients that keep theirs open look for another server. */
  endConnections(): void;
  renew(pair: NonNullable<HttpServerOptions['tls']>): void;
  /** Stops accepting, closes idle connections at once, others when they are answered, and all after `drainMs` (default 5 s). */
  close(drainMs?: number): Promise<void>;
}

export interface ServerState {
  readonly options: HttpServerOptions;
  readonly limits: Limits;
  readonly protocol: 'https' | 'http';
  /** Set when the server is about to close: every answer is then the last on its connection. */
  isDraining: boolean;
}

export interface Exchange {
  readonly state: ServerState;
  readonly connection: Connection;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * The costs that clients may cause. `idleMs` counts between two requests of a connection, `answerMs` while a client reads nothing
 * of its answer. Times are in milliseconds, sizes in bytes.
 */
export interface Limits {
  /** From accept, TLS handshake included, to the first complete request; later from the first to the last byte of a request. */
  readonly requestMs: number;
  readonly idleMs: number;
  readonly answerMs: number;
  readonly bodyBytes: number;
  /** Request line and headers together. */
  readonly headerBytes: number;
  readonly headers: number;
  readonly connections: number;
  /** Memory of all bodies together, until their requests are answered. */
  readonly bufferedBytes: number;
  /** The part of a body that is received before `checkHead` sees the sender's credential; as much is kept of a rejected delivery. */
  readonly uncheckedBytes: number;
}

export const defaultLimits: Omit<Limits, 'connections'> = {
  requestMs: 15_000,
  idleMs: 65_000,
  answerMs: 15_000,
  bodyBytes: 1024 * 1024,
  headerBytes: 16 * 1024,
  headers: 100,
  bufferedBytes: 32 * 1024 * 1024,
  uncheckedBytes: 16 * 1024,
};

export const checkIntervalMs = (limits: Limits): number =>
  Math.max(10, Math.min(1_000, limits.requestMs / 15));

/** The deadline of a request, earlier than its limit by one check, so that no connection outlives the limit. */
export const requestDeadlineMs = (limits: Limits): number => limits.requestMs - checkIntervalMs(limits);

/** With more than the most, memory for TLS would run out before file descriptors do. */
const [fewestConnections, mostConnections] = [16, 8192];
/** The other file descriptors are left for the inbox, forwards and child processes. */
const connectionsPerDescriptor = 0.75;

export async function connectionLimit(): Promise<number> {
  const fitting = Math.floor((await descriptorLimit()) * connectionsPerDescriptor);
  return Math.max(fewestConnections, Math.min(mostConnections, fitting));
}

/** Systems without /proc allow at least this many. */
const limitWithoutProc = 1024;

/** The file descriptors that this process may have open: the soft limit, which node raises to the hard one at its start. */
export async function descriptorLimit(): Promise<number> {
  try {
    const text = await readFile('/proc/self/limits', 'utf8');
    return Number(/^Max open files\s+(\d+)/m.exec(text)?.[1] ?? limitWithoutProc);
  } catch {
    return limitWithoutProc;
  }
}

/**
 * Authenticated encryption with forward secrecy only, for TLS 1.3 and 1.2: the suites with CBC of TLS 1.2 are open to
 * padding oracles (RFC 9325, section 4.2). In OpenSSL's names, the preferred first.
 */
const aeadCiphers = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');

export const secureContext = ({ certPem, keyPem }: NonNullable<HttpServerOptions['tls']>) =>
  ({
    cert: certPem,
    key: keyPem,
    ciphers: aeadCiphers,
    minVersion: 'TLSv1.2',
    maxVersion: 'TLSv1.3',
  }) as const;
