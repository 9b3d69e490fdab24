import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** A request whose headers were received. `start` begins to read its body. */
interface StartableRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly start: () => void;
}

/**
 * An accepted connection. With TLS, `socket` is the raw socket until the handshake is done, and then `speaksHttp` is set and it is
 * the TLS socket. `remote` is the address of the peer, which a socket forgets when it closes. `latestResponse` is that to the
 * request which was started last; requests that the client sends without awaiting answers are `waiting`. Times are in milliseconds
 * of the monotonic clock.
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
  readonly waiting: StartableRequest[];
  hasPausingListener: boolean;
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
      waiting: [],
      hasPausingListener: false,
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

/**
 * Starts a request at once, or when the one before it on its connection is answered and the client reads: a client need not wait
 * for answers, but POST requests are not to be handled in parallel (RFC 9112, section 9.3.2). After an answer that closes the
 * connection nothing is started (section 9.6).
 */
export function startInTurn(connection: Connection, next: StartableRequest): void {
  const { latestResponse, waiting, socket } = connection;
  // The client's next request often comes before node reports that the answer has left.
  const isAnswered =
    latestResponse === undefined || (latestResponse.writableEnded && !socket.writableNeedDrain);
  if (connection.isClosing) next.request.resume();
  else if (waiting.length === 0 && isAnswered) begin(connection, next);
  else {
    if (waiting.length === 0) latestResponse?.once('close', () => startWaiting(connection));
    waiting.push(next);
    stopReading(connection);
  }
}

function begin(connection: Connection, { response, start }: StartableRequest): void {
  connection.latestResponse = response;
  start();
}

function startWaiting(connection: Connection): void {
  const { waiting, socket } = connection;
  if (connection.isClosing || socket.destroyed) {
    // Unread requests would stop the connection from being read to its end.
    for (const { request } of waiting.splice(0)) request.resume();
    return;
  }
  const next = waiting.shift();
  if (next === undefined) return;
  if (waiting.length > 0) next.response.once('close', () => startWaiting(connection));
  else socket.resume();
  begin(connection, next);
}

/** Reads no further requests while some wait. Node resumes a socket whenever a body is read: then it is paused once more. */
function stopReading(connection: Connection): void {
  const { socket, waiting } = connection;
  if (!connection.hasPausingListener) {
    connection.hasPausingListener = true;
    socket.on('resume', () => {
      if (waiting.length > 0) socket.pause();
    });
  }
  socket.pause();
}
