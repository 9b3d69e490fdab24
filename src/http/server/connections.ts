import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** One accepted connection. Times in milliseconds of the monotonic clock. */
export interface Connection {
  /** The raw socket until the TLS handshake is done, then the TLS socket. */
  socket: Socket;
  /** Address of the peer, which the socket itself forgets when it closes. */
  readonly remote: string;
  readonly acceptedAt: number;
  /** Whether HTTP can be spoken on `socket`. */
  secured: boolean;
  /** Bytes that do not speak HTTP: those of the TLS handshake and of its goodbye. */
  handshakeBytes: number;
  /** Whether a first request came whole. */
  hasCompletedRequest: boolean;
  /** Requests whose body is on its way. */
  receiving: number;
  /** Requests that came whole and have no answer yet. */
  unanswered: number;
  /** Our last words were sent: whatever comes now is not looked at. */
  closing: boolean;
  /** What the reader had taken when last looked at, and since when nothing more. */
  bytesTaken: number;
  stalledSince: number;
}

/** A `close_notify` record in its longest form, that of TLS 1.2. */
const closeNotifyBytes = 31;

/** Every open connection of a receiver, from accept on, so that those whom node's own time-outs miss end too. */
export class Connections {
  readonly #open = new Set<Connection>();
  readonly #bySocket = new WeakMap<Duplex, Connection>();
  /** Handshakes under way, by the peer's address: node does not tell which raw socket a TLS socket is made of. */
  readonly #shaking = new Map<string, Connection>();

  accept(socket: Socket, ready: boolean): Connection {
    const connection: Connection = {
      socket,
      remote: socket.remoteAddress ?? '',
      acceptedAt: performance.now(),
      secured: ready,
      handshakeBytes: 0,
      hasCompletedRequest: false,
      receiving: 0,
      unanswered: 0,
      closing: false,
      bytesTaken: -1,
      stalledSince: 0,
    };
    const peer = peerOf(socket);
    this.#open.add(connection);
    this.#bySocket.set(socket, connection);
    if (!ready) this.#shaking.set(peer, connection);
    socket.once('close', () => {
      this.#open.delete(connection);
      if (this.#shaking.get(peer) === connection) this.#shaking.delete(peer);
    });
    return connection;
  }

  /** The TLS handshake is done: from now on the connection is this socket. */
  handshakeDone(socket: Socket): Connection {
    const peer = peerOf(socket);
    const connection = this.#shaking.get(peer);
    if (connection === undefined) return this.accept(socket, true);
    this.#shaking.delete(peer);
    connection.socket = socket;
    connection.secured = true;
    connection.handshakeBytes = socket.bytesRead + closeNotifyBytes;
    this.#bySocket.set(socket, connection);
    socket.once('close', () => this.#open.delete(connection));
    return connection;
  }

  /** The connection whose handshake failed on this socket, which may have forgotten its peer by now. */
  handshakeOf(socket: Socket): Connection | undefined {
    const known = this.#shaking.get(peerOf(socket));
    if (known !== undefined) return known;
    const others = [...this.#shaking.values()].filter((one) => !one.closing);
    return others.find((one) => one.socket.destroyed) ?? (others.length === 1 ? others[0] : undefined);
  }

  of(socket: Duplex): Connection | undefined {
    return this.#bySocket.get(socket);
  }

  [Symbol.iterator](): IterableIterator<Connection> {
    return this.#open.values();
  }
}

const peerOf = (socket: Socket): string => `${socket.remotePort ?? ''} ${socket.remoteAddress ?? ''}`;

/** Whether anything of a request came, as far as can be told: what comes with the end of the handshake counts to it. */
export const hasSentRequestBytes = ({ secured: ready, hasCompletedRequest: opened, receiving, socket, handshakeBytes: preamble }: Connection): boolean =>
  opened || receiving > 0 || (ready && socket.bytesRead > preamble);

/** Whether a TLS client went away on its own account, at a moment when clients do that refuse a certificate. */
export const closedAfterHandshake = (connection: Connection): boolean =>
  !connection.closing &&
  !hasSentRequestBytes(connection) &&
  connection.socket.bytesRead > 0 &&
  performance.now() - connection.acceptedAt < 2_000;

/** Whether the answer's reader has taken nothing for `ms`. */
export function isStalled(connection: Connection, now: number, ms: number): boolean {
  const { socket } = connection;
  const taken = socket.bytesWritten - socket.writableLength;
  if (socket.writableLength === 0 || taken !== connection.bytesTaken) {
    connection.bytesTaken = taken;
    connection.stalledSince = now;
    return false;
  }
  return now - connection.stalledSince > ms;
}
