import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectSecure, type ConnectionOptions } from 'node:tls';
import { isLoopback } from '../../../config/base-url.ts';
import { trustOptions } from '../trust.ts';
import { type ExchangeEnd, hangUp, PostConnection } from './post-connection.ts';
import type { PosterOptions } from './poster.ts';

type OnEnd = (end: ExchangeEnd) => void;

interface Waiting {
  readonly head: string;
  readonly body: Uint8Array;
  readonly onEnd: OnEnd;
  isCancelled: boolean;
  /** Set when it is sent. */
  connection: PostConnection | undefined;
}

/** The connections to one origin: as many as are needed at one time, up to the limit; further requests wait. */
export class OriginConnections {
  readonly #open: () => PostConnection;
  readonly #most: number;
  readonly #all = new Set<PostConnection>();
  /** The one that was used last is used next, so that surplus connections stay idle and expire. */
  readonly #idle: PostConnection[] = [];
  #waiting: Waiting[] = [];

  constructor(url: URL, options: Omit<PosterOptions, 'proxy'>) {
    const openSocket = socketOpener(url, options);
    this.#most = options.connections;
    this.#open = () => new PostConnection(openSocket(), options.now);
  }

  /** Returns a function that gives the request up: its connection is closed, since the answer may still come. */
  exchange(head: string, body: Uint8Array, onEnd: OnEnd): () => void {
    const request: Waiting = { head, body, onEnd, isCancelled: false, connection: undefined };
    const connection = this.#free();
    if (connection === undefined) this.#waiting.push(request);
    else this.#start(connection, request);
    return () => {
      request.isCancelled = true;
      request.connection?.close();
    };
  }

  /** What waits or is in flight ends with an error. */
  close(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { onEnd } of waiting) onEnd({ answer: undefined, error: hangUp() });
    for (const connection of this.#all) connection.close();
  }

  #free(): PostConnection | undefined {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (idle.isUsable) return idle;
      this.#drop(idle);
    }
    if (this.#all.size >= this.#most) return undefined;
    const opened = this.#open();
    this.#all.add(opened);
    return opened;
  }

  #start(connection: PostConnection, request: Waiting): void {
    request.connection = connection;
    connection.exchange(request.head, request.body, (end) => {
      if (connection.isUsable) this.#idle.push(connection);
      else this.#drop(connection);
      request.onEnd(end);
      this.#startWaiting();
    });
  }

  #startWaiting(): void {
    while (this.#waiting.length > 0) {
      const [next] = this.#waiting;
      const connection = next?.isCancelled === true ? undefined : this.#free();
      if (next?.isCancelled !== true && connection === undefined) return;
      this.#waiting.shift();
      if (next !== undefined && connection !== undefined) this.#start(connection, next);
    }
  }

  #drop(connection: PostConnection): void {
    connection.close();
    this.#all.delete(connection);
  }
}

function socketOpener(
  { protocol, hostname, port }: URL,
  { loopbackCa, trust = { authorities: [], insecure: false } }: Omit<PosterOptions, 'proxy'>,
): () => Socket {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (protocol !== 'https:') {
    const address = { host, port: port === '' ? 80 : Number(port) };
    return () => connectPlain(address);
  }
  const own = loopbackCa !== undefined && isLoopback(hostname) ? [loopbackCa] : [];
  const options: ConnectionOptions = {
    host,
    port: port === '' ? 443 : Number(port),
    // A name only: an address is no server name (RFC 6066, section 3).
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ALPNProtocols: ['http/1.1'],
    ...trustOptions({ ...trust, authorities: [...trust.authorities, ...own] }),
  };
  let session: Buffer | undefined;
  return () => {
    const socket = connectSecure(session === undefined ? options : { ...options, session });
    socket.on('session', (ticket) => (session = ticket));
    // A resumed session is not verified against the host's name again: that of a host that failed must not be used.
    socket.on('error', () => (session = undefined));
    return socket;
  };
}
