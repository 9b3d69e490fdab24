import type { IncomingMessage } from 'node:http';
import { rejection, type Rejection } from '../../webhook/rejection.ts';
import type { BufferedBody } from './body-budget.ts';
import type { Connection } from './connections.ts';
import type { ServerState } from './server-types.ts';
import { type RequestHead, tooLarge } from './validate-headers.ts';

/** What becomes of a body: exactly one of `complete`, `rejected` and `ended` is called, once. */
interface BodyConsumer {
  /** Asked as soon as more than a few bytes would be kept: a sender without a credential must not make us keep a whole body. */
  checkHead(pieces: readonly Buffer[]): Rejection | undefined;
  /** The body counts in the budget until it is released. */
  complete(pieces: readonly Buffer[]): void;
  rejected(rejected: Rejection, pieces: readonly Buffer[]): void;
  /** The connection ended after so many bytes. */
  ended(size: number): void;
}

/** A body that is received within the limits. */
export class IncomingBody implements BufferedBody {
  cost = 0;
  readonly #state: ServerState;
  readonly #connection: Connection;
  readonly #consumer: BodyConsumer;
  readonly #pieces: Buffer[] = [];
  #size = 0;
  #isOver = false;
  #isHeadChecked = false;

  constructor(state: ServerState, connection: Connection, consumer: BodyConsumer) {
    this.#state = state;
    this.#connection = connection;
    this.#consumer = consumer;
  }

  receive(request: IncomingMessage, { length = 0 }: RequestHead): void {
    this.#connection.receiving += 1;
    // A client that expects 100 Continue has not sent its body yet.
    if (request.headers.expect !== undefined || length > this.#state.limits.uncheckedBytes) {
      const rejected = this.#checkHead();
      if (rejected !== undefined) {
        this.#reject(rejected);
        return;
      }
    }
    request.on('data', (piece: Buffer) => this.#add(piece));
    request.on('end', () => {
      if (!this.#finish()) return;
      this.#state.bodies.complete(this);
      this.#consumer.complete(this.#pieces);
    });
    request.on('close', () => {
      if (!this.#finish()) return;
      this.release();
      this.#consumer.ended(this.#size);
    });
  }

  evict(): void {
    this.#reject(rejection('overloaded', 'all bodies that are being received take too much memory together'));
  }

  /** The body is not needed any more. */
  release(): void {
    this.#state.bodies.release(this);
  }

  #add(piece: Buffer): void {
    if (this.#isOver) return;
    const { limits, bodies } = this.#state;
    this.#size += piece.length;
    this.#pieces.push(piece);
    const rejected = this.#size > limits.uncheckedBytes ? this.#checkSize() : undefined;
    if (rejected === undefined) bodies.add(this, piece.length);
    else this.#reject(rejected);
  }

  #checkSize(): Rejection | undefined {
    const { bodyBytes } = this.#state.limits;
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
    this.#consumer.rejected(rejected, this.#pieces.splice(0));
  }

  /** False when it was over before. */
  #finish(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#connection.receiving -= 1;
    return true;
  }
}
