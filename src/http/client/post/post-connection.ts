import type { Socket } from 'node:net';
import { AnswerParser } from './answer-parser.ts';

/** How one exchange ended, and whether the connection may be used again. */
export interface ExchangeEnd {
  readonly answer: AnswerParser | undefined;
  /** Set where there is no answer. */
  readonly error: NodeJS.ErrnoException | undefined;
}

/** How long a server keeps an idle connection that says nothing of it; ms. */
const usualIdleMs = 5000;
/** So long before that it is no longer used: a request must not be sent while the server closes it; ms. */
const idleMarginMs = 1000;

/** One connection, which carries one request at a time. */
export class PostConnection {
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
export const hangUp = (): NodeJS.ErrnoException =>
  Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
