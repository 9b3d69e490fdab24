import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * An accepted connection. With TLS, `socket` is the raw socket until the handshake is done, and then `speaksHttp` is set and it is
 * the TLS socket. `remote` is the address of the peer, which a socket forgets when it closes. `latestResponse` is that to the
 * request which was handled last. Times are in milliseconds of the monotonic clock.
 */
export interface Connection {
  socket: Socket;
  readonly remote: string;
  readonly acceptedAt: number;
  speaksHttp: boolean;
  /** Bytes of `socket.bytesRead` that are not HTTP: those of the TLS handshake and of the closing alert. */
  handshakeBytes: number;
  hasCompletedRequest: boolean;
  isReceivingBody: boolean;
  latestResponse: ServerResponse | undefined;
  /** The next answer is the last, or was sent: anything that is received now is ignored. */
  isClosing: boolean;
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
      isReceivingBody: false,
      latestResponse: undefined,
      isClosing: false,
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

  /** Continues a connection with its TLS socket. Where its peer is not known any more, it is a new one. */
  completeHandshake(tlsSocket: Socket): Connection {
    const peer = peerOf(tlsSocket);
    const connection = this.#inHandshake.get(peer);
    if (connection === undefined) return this.accept(tlsSocket, true);
    this.#inHandshake.delete(peer);
    connection.socket = tlsSocket;
    connection.speaksHttp = true;
    connection.handshakeBytes = tlsSocket.bytesRead + closeNotifyBytes;
    this.#bySocket.set(tlsSocket, connection);
    tlsSocket.once('close', () => this.#open.delete(connection));
    return connection;
  }

  /**
   * The connection whose handshake failed. A TLS socket that is closed does not know its peer any more: then it is the connection
   * whose raw socket is closed too, or the only one that is in the handshake. Undefined where several could be meant.
   */
  findFailedHandshake(tlsSocket: Socket): Connection | undefined {
    const ofPeer = this.#inHandshake.get(peerOf(tlsSocket));
    if (ofPeer !== undefined) return ofPeer;
    const candidates = [...this.#inHandshake.values()].filter(({ isClosing }) => !isClosing);
    return (
      candidates.find(({ socket: { destroyed } }) => destroyed) ??
      (candidates.length === 1 ? candidates[0] : undefined)
    );
  }

  find(socket: Duplex): Connection | undefined {
    return this.#bySocket.get(socket);
  }

  get(socket: Duplex): Connection {
    const connection = this.#bySocket.get(socket);
    if (connection === undefined) throw new Error('a request on an unknown connection');
    return connection;
  }

  [Symbol.iterator](): IterableIterator<Connection> {
    return this.#open.values();
  }
}

const peerOf = (socket: Socket): string => `${socket.remotePort ?? ''} ${socket.remoteAddress ?? ''}`;

/** Whether bytes of a request were received. Those that arrive together with the end of the handshake are not noticed. */
export const hasSentRequestBytes = (connection: Connection): boolean =>
  connection.hasCompletedRequest ||
  connection.isReceivingBody ||
  (connection.speaksHttp && connection.socket.bytesRead > connection.handshakeBytes);

/** Whether a whole request was received that is not answered yet. */
export const awaitsAnswer = ({ latestResponse }: Connection): boolean =>
  latestResponse !== undefined && latestResponse.req.complete && !latestResponse.writableEnded;

/** A client that distrusts a certificate closes the connection at once, one that only keeps it in reserve does so later; ms. */
const longestDistrustMs = 2_000;

/** Whether a connection that has closed looks like that of a client which does not trust the certificate. */
export const leftAtHandshake = (connection: Connection): boolean =>
  !connection.isClosing &&
  !hasSentRequestBytes(connection) &&
  connection.socket.bytesRead > 0 &&
  performance.now() - connection.acceptedAt < longestDistrustMs;

/** Records how far the peer has read the answers; returns for how long it has read nothing of what it was sent, in milliseconds. */
export function measureStall(connection: Connection, now: number): number {
  const { socket } = connection;
  const bytesRead = socket.bytesWritten - socket.writableLength;
  if (socket.writableLength === 0 || bytesRead !== connection.bytesReadByPeer) {
    connection.bytesReadByPeer = bytesRead;
    connection.stalledSince = now;
  }
  return now - connection.stalledSince;
}
