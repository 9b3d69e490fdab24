import type { Clock } from '../../time/clock.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import type { Rejection } from '../../webhook/rejection.ts';
import type { Answer } from './send-answer.ts';
import type { Limits } from './limits.ts';

/** A request that got no further than the socket's own rules. */
export interface RejectedRequest extends Rejection {
  readonly remote: string;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  /** Undefined when the request line could not be read. */
  readonly method?: string | undefined;
  readonly path?: string | undefined;
}

/** A connection that ended before a request could be sent. */
export interface FailedHandshake {
  readonly remote: string;
  /** OpenSSL's or node's name for it. */
  readonly code: string;
  /** One sentence for the person debugging. */
  readonly detail: string;
}

export interface HttpServerOptions {
  readonly host: string;
  /** 0 for any. */
  readonly port: number;
  /** PEM texts; undefined for plain HTTP. */
  readonly tls: { readonly certPem: string; readonly keyPem: string } | undefined;
  /** What differs from the defaults. */
  readonly limits?: Partial<Limits> | undefined;
  readonly clock: Pick<Clock, 'now'>;
  /** Called for each whole request; its answer is sent. One that fails is answered 503 and given to `onError`. */
  readonly handle: (delivery: Delivery) => Promise<Answer>;
  readonly onError: (error: unknown, delivery: Delivery) => void;
  readonly onRejected?: ((refused: RejectedRequest) => void) | undefined;
  readonly onHandshake?: ((failed: FailedHandshake) => void) | undefined;
  /** The connection limit was reached and a client was turned away. */
  readonly onFull?: ((connections: number) => void) | undefined;
}

export interface HttpServer {
  /** What a client on this machine uses: `https://localhost:8443`. */
  readonly url: string;
  readonly port: number;
  /** New connections get this certificate; those that are open keep the one they have. */
  renew(pair: NonNullable<HttpServerOptions['tls']>): void;
  /** Stops accepting, ends idle connections at once and others when answered, all after `drainMs` (default 5 s). */
  close(drainMs?: number): Promise<void>;
}
