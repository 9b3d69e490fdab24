import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectSecure, type ConnectionOptions } from 'node:tls';
import { isLoopback } from '../../config/base-url.ts';
import { AnswerParser } from './answer-parser.ts';
import type { PosterOptions } from './poster.ts';
import { trustOptions } from './trust.ts';

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

/** How one exchange ended, and whether the connection may be used again. */
interface ExchangeEnd {
  readonly answer: AnswerParser | undefined;
  /** Set where there is no answer. */
  readonly error: NodeJS.ErrnoException | undefined;
}

/** How long a server keeps an idle connection that says nothing of it; ms. */
const usualIdleMs = 5000;
/** So long before that it is no longer used: a request must not be sent while the server closes it; ms. */
const idleMarginMs = 1000;

/** One connection, which carries one request at a time. */
class PostConnection {
  readonly #socket: Socket;
  readonly #now: () => number;
  #parser: AnswerParser | undefined;
  #onEnd: ((end: ExchangeEnd) => void) | undefined;
  #error: NodeJS.ErrnoException | undefined;
  #usableUntil = Infinity;
  #isClosed = false;

  /** `socket` may still be connecting: what is written waits for that. `now` in milliseconds. */
  constructor(socket: Socket, now: () => number) {
    this.#socket = socket;
    this.#now = now;
    socket.setNoDelay(true);
    socket.on('data', (piece: Buffer) => this.#onData(piece));
    socket.on('error', (error) => (this.#error ??= error));
    socket.on('end', () => this.#onFinish());
    socket.on('close', () => this.#onClose());
  }

  /** Idle, and the server has not said or shown that it closes. */
  get isUsable(): boolean {
    return !this.#isClosed && this.#onEnd === undefined && this.#now() < this.#usableUntil;
  }

  /** Sends one request in one piece. `onEnd` is called once. */
  exchange(head: string, body: Uint8Array, onEnd: (end: ExchangeEnd) => void): void {
    this.#parser = new AnswerParser();
    this.#onEnd = onEnd;
    const request = Buffer.allocUnsafe(head.length + body.length);
    request.write(head, 'latin1');
    request.set(body, head.length);
    this.#socket.write(request);
  }

  close(): void {
    this.#isClosed = true;
    this.#usableUntil = 0;
    this.#socket.destroy();
  }

  #onData(piece: Buffer): void {
    if (this.#parser === undefined) {
      // No request is in flight.
      this.close();
      return;
    }
    try {
      this.#parser.push(piece);
    } catch (error) {
      this.#error = error as NodeJS.ErrnoException;
      this.close();
      this.#finish({ answer: undefined, error: this.#error });
      return;
    }
    if (this.#parser.isDone) this.#complete(this.#parser);
  }

  /** The server sends no more. */
  #onFinish(): void {
    this.#usableUntil = 0;
    if (this.#parser?.end() === true) this.#complete(this.#parser);
    this.close();
  }

  #onClose(): void {
    this.close();
    this.#finish({ answer: undefined, error: this.#error ?? hangUp() });
  }

  #complete(answer: AnswerParser): void {
    // A server that answers before it has read the request may not read the rest of it.
    if (!answer.keepsAlive || this.#socket.writableLength > 0) this.close();
    else this.#usableUntil = this.#now() + (answer.idleMs ?? usualIdleMs) - idleMarginMs;
    this.#finish({ answer, error: undefined });
  }

  #finish(end: ExchangeEnd): void {
    const onEnd = this.#onEnd;
    this.#parser = undefined;
    this.#onEnd = undefined;
    onEnd?.(end);
  }
}

/** The same error as node's client gives. */
const hangUp = (): NodeJS.ErrnoException =>
  Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
