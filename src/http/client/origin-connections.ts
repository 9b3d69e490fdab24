import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectSecure, type ConnectionOptions as TlsOptions } from 'node:tls';
import { isLoopback } from '../../config/base-url.ts';
import { addressAttempts } from './limit-time.ts';
import { AnswerParser } from './answer-parser.ts';
import { type TlsTrust, trustOptions } from './trust.ts';
import { openTunnel, tunnelMs } from './tunnel.ts';

export type ExchangeEnd = AnswerParser | NodeJS.ErrnoException;

type OnEnd = (end: ExchangeEnd) => void;

export interface ConnectionOptions {
  /** Connections kept open per origin, and so the most requests at one time. */
  readonly connections: number;
  /** Our own authority as PEM: trusted for loopback addresses only, beside the usual ones. */
  readonly loopbackCa?: string | undefined;
  readonly trust?: TlsTrust | undefined;
  readonly proxy?: URL | undefined;
  readonly now: () => number;
}

interface PendingRequest {
  readonly head: string;
  readonly body: Uint8Array;
  readonly onEnd: OnEnd;
  isCancelled: boolean;
  connection: PostConnection | undefined;
}

/**
 * The connections to one origin: as many as are needed at one time, up to the limit; further requests wait. They are made here,
 * and not by undici or node's client, for the reasons at `createPoster`.
 */
export class OriginConnections {
  readonly #open: () => PostConnection;
  readonly #most: number;
  readonly #all = new Set<PostConnection>();
  /** The one that was used last is used next, so that surplus connections stay idle and expire. */
  readonly #idle: PostConnection[] = [];
  #waiting: PendingRequest[] = [];

  constructor(url: URL, options: ConnectionOptions) {
    const openSocket = socketOpener(url, options);
    this.#most = options.connections;
    this.#open = () => new PostConnection(openSocket, options.now);
  }

  /**
   * Returns a function that cancels the request; it must not be called after `onEnd`, when the connection may serve another one.
   * A request that still waits is not sent, and only `close` calls its `onEnd`. One under way ends with ECONNRESET: its connection is
   * closed, since its answer could still come and would be taken for the next one.
   */
  exchange(head: string, body: Uint8Array, onEnd: OnEnd): () => void {
    const request: PendingRequest = { head, body, onEnd, isCancelled: false, connection: undefined };
    const connection = this.#free();
    if (connection === undefined) this.#waiting.push(request);
    else this.#start(connection, request);
    return () => {
      request.isCancelled = true;
      request.connection?.close();
    };
  }

  close(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { onEnd } of waiting) onEnd(hangUp());
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

  #start(connection: PostConnection, request: PendingRequest): void {
    request.connection = connection;
    connection.exchange(request.head, request.body, (end) => {
      if (connection.isUsable) this.#idle.push(connection);
      else this.#drop(connection);
      request.onEnd(end);
      this.#startWaiting();
    });
  }

  #startWaiting(): void {
    for (;;) {
      while (this.#waiting[0]?.isCancelled === true) this.#waiting.shift();
      const [next] = this.#waiting;
      const connection = next && this.#free();
      if (next === undefined || connection === undefined) return;
      this.#waiting.shift();
      this.#start(connection, next);
    }
  }

  #drop(connection: PostConnection): void {
    connection.close();
    this.#all.delete(connection);
  }
}

type OpenSocket = (onSocket: (error: Error | null, socket?: Socket) => void) => { destroy(): unknown };

function socketOpener(
  target: URL,
  { loopbackCa, proxy, trust = { authorities: [], insecure: false } }: ConnectionOptions,
): OpenSocket {
  const isTunnelled = proxy !== undefined && target.protocol === 'https:';
  const { protocol, hostname, port } = isTunnelled ? target : (proxy ?? target);
  const host = hostname.replace(/^\[|\]$/g, '');
  if (protocol !== 'https:') {
    const address = { ...addressAttempts, host, port: port === '' ? 80 : Number(port) };
    return (onSocket) => reportAtOnce(connectPlain(address), onSocket);
  }
  const loopbackCas = loopbackCa !== undefined && isLoopback(hostname) ? [loopbackCa] : [];
  const options: TlsOptions = {
    ...addressAttempts,
    host,
    port: port === '' ? 443 : Number(port),
    // A name only: an address is no server name (RFC 6066, section 3).
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ALPNProtocols: ['http/1.1'],
    // The options of trust are meant for the target. Where plain HTTP goes through an https proxy, TLS is with the proxy alone.
    ...(isTunnelled || proxy === undefined
      ? trustOptions({ ...trust, authorities: [...trust.authorities, ...loopbackCas] })
      : {}),
  };
  let session: Buffer | undefined;
  const secure = (more: TlsOptions): Socket => {
    const socket = connectSecure({ ...options, ...(session && { session }), ...more });
    socket.on('session', (ticket) => (session = ticket));
    // Node does not check the host's name again in a resumed session, so a connection that failed must leave none behind.
    socket.on('error', () => (session = undefined));
    return socket;
  };
  if (!isTunnelled) return (onSocket) => reportAtOnce(secure({}), onSocket);
  return (onSocket) =>
    openTunnel(proxy, `${hostname}:${options.port}`, tunnelMs, (error, socket) =>
      onSocket(error, socket && secure({ socket })),
    );
}

/** Node keeps what is written to a socket until it is connected. */
function reportAtOnce(socket: Socket, onSocket: Parameters<OpenSocket>[0]): Socket {
  onSocket(null, socket);
  return socket;
}

/** How long a server is expected to keep an idle connection if its answer has no `Keep-Alive: timeout`, in milliseconds. */
const usualIdleMs = 5000;
/** The end of that time, in milliseconds, in which no request is sent: the server could close the connection meanwhile. */
const idleMarginMs = 1000;

class PostConnection {
  readonly #opening: { destroy(): unknown };
  readonly #now: () => number;
  #socket: Socket | undefined;
  #unsent: Buffer | undefined;
  #parser: AnswerParser | undefined;
  #onEnd: OnEnd | undefined;
  #error: NodeJS.ErrnoException | undefined;
  #usableUntil = Infinity;
  #isClosed = false;

  constructor(open: OpenSocket, now: () => number) {
    this.#now = now;
    this.#opening = open((error, socket) => {
      this.#error = error ?? undefined;
      if (socket === undefined) this.#onClose();
      else if (this.#isClosed) socket.destroy();
      else this.#use(socket);
    });
  }

  #use(socket: Socket): void {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (piece: Buffer) => this.#onData(piece));
    socket.on('error', (error) => (this.#error ??= error));
    socket.on('end', () => this.#onServerEnd());
    socket.on('close', () => this.#onClose());
    if (this.#unsent !== undefined) socket.write(this.#unsent);
    this.#unsent = undefined;
  }

  get isUsable(): boolean {
    return !this.#isClosed && this.#onEnd === undefined && this.#now() < this.#usableUntil;
  }

  exchange(head: string, body: Uint8Array, onEnd: OnEnd): void {
    this.#parser = new AnswerParser();
    this.#onEnd = onEnd;
    const request = Buffer.allocUnsafe(head.length + body.length);
    request.write(head, 'latin1');
    request.set(body, head.length);
    if (this.#socket === undefined) this.#unsent = request;
    else this.#socket.write(request);
  }

  close(): void {
    this.#isClosed = true;
    this.#opening.destroy();
    this.#socket?.destroy();
  }

  #onData(piece: Buffer): void {
    if (this.#parser === undefined) {
      // Bytes that no request asked for would be taken for the answer to the next one.
      this.close();
      return;
    }
    try {
      this.#parser.push(piece);
    } catch (error) {
      this.close();
      this.#report(error as NodeJS.ErrnoException);
      return;
    }
    if (this.#parser.isDone) this.#complete(this.#parser);
  }

  #onServerEnd(): void {
    if (this.#parser?.end() === true) this.#complete(this.#parser);
    this.close();
  }

  #onClose(): void {
    this.close();
    this.#report(this.#error ?? hangUp());
  }

  #complete(answer: AnswerParser): void {
    // A server that answers before it has read the request may not read the rest of it.
    if (!answer.keepsAlive || this.#socket?.writableLength !== 0) this.close();
    else this.#usableUntil = this.#now() + (answer.idleMs ?? usualIdleMs) - idleMarginMs;
    this.#report(answer);
  }

  #report(end: ExchangeEnd): void {
    const onEnd = this.#onEnd;
    this.#parser = undefined;
    this.#onEnd = undefined;
    onEnd?.(end);
  }
}

/** The same error as node's client gives. */
const hangUp = (): NodeJS.ErrnoException =>
  Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
