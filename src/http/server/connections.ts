import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** A request that came before the one ahead of it was answered. */
interface WaitingRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Starts to handle it. */
  readonly start: () => void;
}

/** One accepted connection. Times in milliseconds of the monotonic clock. */
export interface Connection {
  /** The raw socket until the TLS handshake is done, then the TLS socket. */
  socket: Socket;
  /** Address of the peer, which the socket itself forgets when it closes. */
  readonly remote: string;
  readonly acceptedAt: number;
  /** Whether `socket` carries HTTP: at once without TLS, otherwise after the handshake. */
  speaksHttp: boolean;
  /** Bytes that are not HTTP: those of the TLS handshake and of the closing alert. */
  handshakeBytes: number;
  /** Whether a first request was received completely. */
  hasCompletedRequest: boolean;
  /** Requests whose body is being received. */
  receiving: number;
  /** The response to the request that was started last. */
  latest: ServerResponse | undefined;
  /** Complete or not, they are started one after another. */
  readonly waiting: WaitingRequest[];
  /** Whether the socket is paused again when node resumes it while requests wait. */
  canPause: boolean;
  /** The next answer is the last, or was sent: anything that is received now is ignored. */
  closing: boolean;
  /** Bytes of answers that the peer had read at the last check, and when that number last changed. */
  bytesReadByPeer: number;
  stalledSince: number;
}

/** A `close_notify` record in its longest form, that of TLS 1.2. */
const closeNotifyBytes = 31;

/** Every open connection of a server from its accept on, so that those that node's own time-outs miss are closed too. */
export class Connections {
  readonly #open = new Set<Connection>();
  readonly #bySocket = new WeakMap<Duplex, Connection>();
  /** Connections in the TLS handshake, by the peer's address: node does not tell which raw socket a TLS socket wraps. */
  readonly #inHandshake = new Map<string, Connection>();

  accept(socket: Socket, speaksHttp: boolean): Connection {
    const connection: Connection = {
      socket,
      remote: socket.remoteAddress ?? '',
      acceptedAt: performance.now(),
      speaksHttp,
      handshakeBytes: 0,
      hasCompletedRequest: false,
      receiving: 0,
      latest: undefined,
      waiting: [],
      canPause: false,
      closing: false,
      bytesReadByPeer: -1,
      stalledSince: 0,
    };
    const peer = peerOf(socket);
    this.#open.add(connection);
    this.#bySocket.set(socket, connection);
    if (!speaksHttp) this.#inHandshake.set(peer, connection);
    socket.once('close', () => {
      this.#open.delete(connection);
      if (this.#inHandshake.get(peer) === connection) this.#inHandshake.delete(peer);
    });
    return connection;
  }

  /** The TLS handshake is complete: from now on the connection uses this socket. */
  handshakeDone(socket: Socket): Connection {
    const peer = peerOf(socket);
    const connection = this.#inHandshake.get(peer);
    if (connection === undefined) return this.accept(socket, true);
    this.#inHandshake.delete(peer);
    connection.socket = socket;
    connection.speaksHttp = true;
    connection.handshakeBytes = socket.bytesRead + closeNotifyBytes;
    this.#bySocket.set(socket, connection);
    socket.once('close', () => this.#open.delete(connection));
    return connection;
  }

  /** The connection whose handshake failed on this socket, which may not know its peer any more. */
  handshakeOf(socket: Socket): Connection | undefined {
    const known = this.#inHandshake.get(peerOf(socket));
    if (known !== undefined) return known;
    const others = [...this.#inHandshake.values()].filter((connection) => !connection.closing);
    return (
      others.find(({ socket: { destroyed } }) => destroyed) ?? (others.length === 1 ? others[0] : undefined)
    );
  }

  of(socket: Duplex): Connection | undefined {
    return this.#bySocket.get(socket);
  }

  get size(): number {
    return this.#open.size;
  }

  [Symbol.iterator](): IterableIterator<Connection> {
    return this.#open.values();
  }
}

const peerOf = (socket: Socket): string => `${socket.remotePort ?? ''} ${socket.remoteAddress ?? ''}`;

/** Whether bytes of a request were received. Those that arrive together with the end of the handshake are not noticed. */
export const hasSentRequestBytes = (connection: Connection): boolean =>
  connection.hasCompletedRequest ||
  connection.receiving > 0 ||
  (connection.speaksHttp && connection.socket.bytesRead > connection.handshakeBytes);

/** Whether a request was received completely and has no answer yet. */
export const awaitsAnswer = ({ latest }: Connection): boolean =>
  latest !== undefined && latest.req.complete && !latest.writableEnded;

/** Whether a TLS client closed the connection right after the handshake, as clients do that do not trust a certificate. */
export const closedAfterHandshake = (connection: Connection): boolean =>
  !connection.closing &&
  !hasSentRequestBytes(connection) &&
  connection.socket.bytesRead > 0 &&
  performance.now() - connection.acceptedAt < 2_000;

/** Whether the peer has read nothing of an answer for `ms`. */
export function isStalled(connection: Connection, now: number, ms: number): boolean {
  const { socket } = connection;
  const bytesRead = socket.bytesWritten - socket.writableLength;
  if (socket.writableLength === 0 || bytesRead !== connection.bytesReadByPeer) {
    connection.bytesReadByPeer = bytesRead;
    connection.stalledSince = now;
    return false;
  }
  return now - connection.stalledSince > ms;
}
