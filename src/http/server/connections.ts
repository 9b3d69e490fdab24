import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Rejection, rejection } from '../../webhook/delivery-answer.ts';

interface WaitingRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly start: () => void;
}

/** An accepted connection. Times are in milliseconds of the monotonic clock. */
export interface Connection {
  socket: Socket;
  /** Address of the peer, which the socket itself forgets when it closes. */
  readonly remote: string;
  readonly acceptedAt: number;
  speaksHttp: boolean;
  /** Bytes that are not HTTP: those of the TLS handshake and of the closing alert. */
  handshakeBytes: number;
  hasCompletedRequest: boolean;
  receiving: number;
  latest: ServerResponse | undefined;
  readonly waiting: WaitingRequest[];
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
    const ofPeer = this.#inHandshake.get(peerOf(socket));
    if (ofPeer !== undefined) return ofPeer;
    const candidates = [...this.#inHandshake.values()].filter((connection) => !connection.closing);
    return (
      candidates.find(({ socket: { destroyed } }) => destroyed) ??
      (candidates.length === 1 ? candidates[0] : undefined)
    );
  }

  find(socket: Duplex): Connection | undefined {
    return this.#bySocket.get(socket);
  }

  of(socket: Duplex): Connection {
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
  connection.receiving > 0 ||
  (connection.speaksHttp && connection.socket.bytesRead > connection.handshakeBytes);

export const awaitsAnswer = ({ latest }: Connection): boolean =>
  latest !== undefined && latest.req.complete && !latest.writableEnded;

export const closedAfterHandshake = (connection: Connection): boolean =>
  !connection.closing &&
  !hasSentRequestBytes(connection) &&
  connection.socket.bytesRead > 0 &&
  performance.now() - connection.acceptedAt < 2_000;

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

export interface RequestHead {
  readonly rawHeaders: readonly (readonly [string, string])[];
  readonly host: string;
  readonly length: number | undefined;
}

/**
 * Reads the request head that node parsed, and rejects what node's parser accepts: more headers than allowed, of which node
 * would drop the rest silently; a second `Host` or `Content-Length`; a transfer coding other than `chunked`.
 */
export function validateHeaders(
  request: { readonly rawHeaders: readonly string[]; readonly httpVersion: string },
  limits: { readonly headers: number; readonly bodyBytes: number },
): RequestHead | Rejection {
  const raw = request.rawHeaders;
  if (raw.length > limits.headers * 2) {
    return rejection('too_many_headers', `more than ${limits.headers} headers`);
  }
  const rawHeaders: (readonly [string, string])[] = [];
  let host: string | undefined;
  let length: string | undefined;
  let coding: string | undefined;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] ?? '';
    const value = raw[i + 1] ?? '';
    rawHeaders.push([name, value]);
    // Comparing lengths first spares most names the lower-casing.
    if (name.length === 4 && name.toLowerCase() === 'host') {
      if (host !== undefined) return rejection('malformed_request', 'two Host headers');
      host = value;
    } else if (name.length === 14 && name.toLowerCase() === 'content-length') {
      if (length !== undefined) return rejection('malformed_request', 'two Content-Length headers');
      length = value;
    } else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') {
      coding = coding === undefined ? value : `${coding}, ${value}`;
    }
  }
  if (host === undefined && request.httpVersion !== '1.0')
    return rejection('malformed_request', 'no Host header');
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    return rejection('malformed_request', 'a transfer coding other than chunked');
  }
  if (coding !== undefined && length !== undefined) {
    return rejection('malformed_request', 'both Content-Length and Transfer-Encoding');
  }
  const declared = length === undefined ? 0 : Number(length);
  if (declared > limits.bodyBytes) return tooLarge(limits.bodyBytes);
  return { rawHeaders, host: host ?? '', length: coding === undefined ? declared : undefined };
}

const tooLarge = (limit: number): Rejection =>
  rejection('too_large', `the body is larger than ${limit} bytes`);

/** The receiver of a body: exactly one of `complete`, `rejected` and `ended` is called, once. */
interface BodyConsumer {
  /** Asked as soon as more than a few bytes would be kept: a sender without a credential must not make us keep a whole body. */
  checkHead(pieces: readonly Buffer[]): Rejection | undefined;
  complete(pieces: readonly Buffer[]): void;
  rejected(rejected: Rejection, start: Buffer): void;
  ended(size: number): void;
}

interface BodyLimits {
  readonly bodyBytes: number;
  readonly uncheckedBytes: number;
}

export class IncomingBody {
  /** The bytes that it takes of the budget, which keeps this number. */
  cost = 0;
  readonly #limits: BodyLimits;
  readonly #budget: BodyBudget;
  readonly #connection: Connection;
  readonly #consumer: BodyConsumer;
  readonly #pieces: Buffer[] = [];
  #size = 0;
  #isOver = false;
  #isHeadChecked = false;

  constructor(
    { limits, bodies }: { readonly limits: BodyLimits; readonly bodies: BodyBudget },
    connection: Connection,
    consumer: BodyConsumer,
  ) {
    this.#limits = limits;
    this.#budget = bodies;
    this.#connection = connection;
    this.#consumer = consumer;
  }

  receive(request: IncomingMessage, { length = 0 }: RequestHead): void {
    this.#connection.receiving += 1;
    if (request.headers.expect !== undefined || length > this.#limits.uncheckedBytes) {
      const rejected = this.#checkHead();
      if (rejected !== undefined) {
        this.#reject(rejected);
        return;
      }
    }
    request.on('data', (piece: Buffer) => this.#add(piece));
    request.on('end', () => {
      if (!this.#finish()) return;
      this.#budget.complete(this);
      this.#consumer.complete(this.#pieces);
    });
    request.on('close', () => {
      if (!this.#finish()) return;
      this.release();
      this.#pieces.splice(0).forEach(freeMemory);
      this.#consumer.ended(this.#size);
    });
  }

  /** Rejects its request, to make room for others. Called only while the body is not complete. */
  evict(): void {
    this.#reject(rejection('overloaded', 'all bodies that are being received take too much memory together'));
  }

  release(): void {
    this.#budget.release(this);
  }

  #add(piece: Buffer): void {
    if (this.#isOver) {
      freeMemory(piece);
      return;
    }
    this.#size += piece.length;
    this.#pieces.push(piece);
    const rejected = this.#size > this.#limits.uncheckedBytes ? this.#checkSize() : undefined;
    if (rejected === undefined) this.#budget.add(this, piece.length);
    else this.#reject(rejected);
  }

  #checkSize(): Rejection | undefined {
    const { bodyBytes } = this.#limits;
    if (this.#size > bodyBytes) return tooLarge(bodyBytes);
    return this.#isHeadChecked ? undefined : this.#checkHead();
  }

  #checkHead(): Rejection | undefined {
    this.#isHeadChecked = true;
    return this.#consumer.checkHead(this.#pieces);
  }

  #reject(rejected: Rejection): void {
    this.#finish();
    this.release();
    const pieces = this.#pieces.splice(0);
    const start = Buffer.concat(pieces, Math.min(this.#size, this.#limits.uncheckedBytes));
    pieces.forEach(freeMemory);
    this.#consumer.rejected(rejected, start);
  }

  #finish(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#connection.receiving -= 1;
    return true;
  }
}

/**
 * Frees the memory of a piece at once. Where many bodies are rejected, what waits for the garbage collector would take
 * several times the memory of the bodies that are kept. Node 20 has no `transfer`.
 */
function freeMemory({ buffer, byteLength }: Buffer): void {
  const memory: ArrayBufferLike & { readonly transfer?: (length: number) => ArrayBuffer } = buffer;
  if (byteLength === memory.byteLength) memory.transfer?.(0);
}

/** A piece of a body costs so many bytes beside its own: otherwise a body in pieces of one byte would be 200 times its size. */
const pieceBytes = 256;

/**
 * Limits the memory of all bodies together. Where that is exceeded, the largest incomplete body has to go: then
 * clients that stall large bodies cannot keep out the small ones of others.
 */
export class BodyBudget {
  readonly #limit: number;
  readonly #incomplete = new Set<IncomingBody>();
  #used = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(body: IncomingBody, bytes: number): void {
    if (body.cost === 0) this.#incomplete.add(body);
    body.cost += bytes + pieceBytes;
    this.#used += bytes + pieceBytes;
    if (this.#used > this.#limit) this.#makeRoom();
  }

  complete(body: IncomingBody): void {
    this.#incomplete.delete(body);
  }

  release(body: IncomingBody): void {
    this.#incomplete.delete(body);
    this.#used -= body.cost;
    body.cost = 0;
  }

  #makeRoom(): void {
    while (this.#used > this.#limit && this.#incomplete.size > 0) {
      let largest: IncomingBody | undefined;
      for (const body of this.#incomplete) if (body.cost > (largest?.cost ?? 0)) largest = body;
      if (largest === undefined) return;
      this.release(largest);
      largest.evict();
    }
  }
}
