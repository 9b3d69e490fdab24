import type { Delivery } from '../../webhook/delivery.ts';
import { type Rejection, rejection } from '../../webhook/delivery-answer.ts';
import { rejectRequest, reportRejected, requestLineOf } from './send-answer.ts';
import type { Exchange } from './server-options.ts';

/** `host` is empty in a request of HTTP/1.0 without one; `length` is that of the body in bytes, undefined for a chunked one. */
export interface RequestHead {
  readonly rawHeaders: readonly (readonly [name: string, value: string])[];
  readonly host: string;
  readonly length: number | undefined;
}

/**
 * Reads the request head that node parsed, and rejects what node's parser accepts: more headers than allowed, of which node
 * would drop the rest silently; a second `Host` or `Content-Length`; a transfer coding other than `chunked`.
 */
export function readHead(
  request: { readonly rawHeaders: readonly string[]; readonly httpVersion: string },
  limits: { readonly headers: number; readonly bodyBytes: number },
): RequestHead | Rejection {
  const namesAndValues = request.rawHeaders;
  if (namesAndValues.length > limits.headers * 2) {
    return rejection('too_many_headers', `more than ${limits.headers} headers`);
  }
  const rawHeaders: (readonly [string, string])[] = [];
  let host: string | undefined;
  let length: string | undefined;
  let coding: string | undefined;
  for (let i = 0; i < namesAndValues.length; i += 2) {
    const name = namesAndValues[i] ?? '';
    const value = namesAndValues[i + 1] ?? '';
    rawHeaders.push([name, value]);
    if (isNamed(name, 'host')) {
      if (host !== undefined) return rejection('malformed_request', 'two Host headers');
      host = value;
    } else if (isNamed(name, 'content-length')) {
      if (length !== undefined) return rejection('malformed_request', 'two Content-Length headers');
      length = value;
    } else if (isNamed(name, 'transfer-encoding')) {
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

/** Comparing lengths first spares most names the lower-casing. */
const isNamed = (header: string, lowerName: string): boolean =>
  header.length === lowerName.length && header.toLowerCase() === lowerName;

const tooLarge = (limit: number): Rejection =>
  rejection('too_large', `the body is larger than ${limit} bytes`);

/**
 * Keeps the pieces of one body as they arrive, within the limit of its size and the budget of all bodies. It is over when it was
 * completed, rejected or interrupted: pieces that arrive later are dropped.
 */
export class IncomingBody {
  /** Bytes of the budget that the body takes until `release`. The budget alone changes it. */
  cost = 0;
  readonly #exchange: Exchange;
  readonly #head: RequestHead;
  readonly #budget: BodyBudget;
  readonly #onComplete: (delivery: Delivery) => void;
  readonly #pieces: Buffer[] = [];
  #size = 0;
  #isOver = false;
  #isHeadChecked = false;

  constructor(
    exchange: Exchange,
    head: RequestHead,
    budget: BodyBudget,
    onComplete: (delivery: Delivery) => void,
  ) {
    this.#exchange = exchange;
    this.#head = head;
    this.#budget = budget;
    this.#onComplete = onComplete;
  }

  receive(): void {
    const { request, connection, state } = this.#exchange;
    const { length = 0 } = this.#head;
    connection.isReceivingBody = true;
    const isHeadDue = request.headers.expect !== undefined || length > state.limits.uncheckedBytes;
    const rejected = isHeadDue ? this.#checkHead() : undefined;
    if (rejected !== undefined) {
      this.#reject(rejected);
      return;
    }
    request.on('data', (piece: Buffer) => this.#add(piece));
    request.on('end', () => {
      if (this.#isOver) return;
      this.#end();
      this.#budget.complete(this);
      this.#onComplete(this.#delivery(this.#pieces));
    });
    request.on('close', () => {
      if (this.#isOver) return;
      this.#end();
      this.release();
      this.#pieces.splice(0).forEach(freeMemory);
      this.#reportInterrupted();
    });
  }

  /** Rejects its request, to make room for others. Called only while the body is not complete. */
  evict(): void {
    this.#reject(rejection('overloaded', 'all bodies that are being received take too much memory together'));
  }

  /** Returns its part of the budget. Of a complete body it is called when the request is answered. */
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
    const rejected = this.#size > this.#exchange.state.limits.uncheckedBytes ? this.#checkSize() : undefined;
    if (rejected === undefined) this.#budget.add(this, piece.length);
    else this.#reject(rejected);
  }

  #checkSize(): Rejection | undefined {
    const { bodyBytes } = this.#exchange.state.limits;
    if (this.#size > bodyBytes) return tooLarge(bodyBytes);
    return this.#isHeadChecked ? undefined : this.#checkHead();
  }

  /**
   * Is called once at most: before more than `uncheckedBytes` are kept, since a sender without a credential must not make us keep a
   * whole body, and before 100 Continue asks for it.
   */
  #checkHead(): Rejection | undefined {
    const { state, request, response } = this.#exchange;
    this.#isHeadChecked = true;
    const rejected = state.options.checkHead?.(this.#delivery(this.#pieces));
    if (rejected === undefined && request.headers.expect !== undefined) response.writeContinue();
    return rejected;
  }

  #reject(rejected: Rejection): void {
    this.#end();
    this.release();
    const pieces = this.#pieces.splice(0);
    const start = Buffer.concat(pieces, Math.min(this.#size, this.#exchange.state.limits.uncheckedBytes));
    pieces.forEach(freeMemory);
    rejectRequest(this.#exchange, rejected, this.#delivery([start]));
  }

  #end(): void {
    this.#isOver = true;
    this.#exchange.connection.isReceivingBody = false;
  }

  #reportInterrupted(): void {
    const { connection, state, request } = this.#exchange;
    if (connection.isClosing || state.isDraining) return;
    const ofLength = this.#head.length === undefined ? '' : ` of ${this.#head.length}`;
    const detail = `the connection ended after ${this.#size}${ofLength} bytes of the body`;
    reportRejected(this.#exchange, rejection('incomplete_body', detail), requestLineOf(request));
  }

  #delivery(pieces: readonly Buffer[]): Delivery {
    const { state, request, connection } = this.#exchange;
    const path = request.url ?? '/';
    return {
      method: request.method ?? '',
      path,
      // An absolute target names its own host (RFC 9112, section 3.2.2).
      url: path.startsWith('/') ? `${state.protocol}://${this.#head.host}${path}` : path,
      rawHeaders: this.#head.rawHeaders,
      body: pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces),
      remote: connection.remote,
      receivedAt: state.options.clock.now(),
    };
  }
}

/**
 * Frees the memory of a piece at once, where no other piece shares it. Where many bodies are rejected, memory that waits for the
 * garbage collector would be several times that of the bodies that are kept. Node 20 has no `transfer`.
 */
function freeMemory({ buffer, byteLength }: Buffer): void {
  const memory: ArrayBufferLike & { readonly transfer?: (length: number) => ArrayBuffer } = buffer;
  if (byteLength === memory.byteLength) memory.transfer?.(0);
}

/** A piece of a body costs so many bytes beside its own: otherwise a body in pieces of one byte would be 200 times its size. */
const pieceBytes = 256;

/**
 * Limits the memory of all bodies together. Where that is exceeded, the largest incomplete body is rejected: then
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
      largest.evict();
    }
  }
}
