import type { Socket } from 'node:net';
import { SocketFault } from './socket-fault.ts';

/** PostgreSQL, "Message Formats": ReadyForQuery, up to its last byte, the state of the transaction. */
const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5]);
const messageBytes = readyForQuery.length + 1;
const isIdleState = 'I'.charCodeAt(0);

/**
 * Watches one connection's answers: postgres.js waits for ever for a database that does not answer. A statement without a
 * byte of answer for so long destroys the socket.
 */
export class AnswerWatch {
  readonly #socket: Socket;
  /** The end of what came last. */
  #tail: Buffer = Buffer.alloc(0);
  #timer: NodeJS.Timeout | undefined;
  #limitMs = 0;
  #isIdle = false;
  #isOpen = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (piece: Buffer) => this.#received(piece));
    socket.on('close', () => this.#stop());
  }

  /** Whether the database has let the user in. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Whether every statement was answered, and no transaction is open. */
  get isIdle(): boolean {
    return this.#isIdle;
  }

  /** For statements from now on, in milliseconds. */
  limit(ms: number): void {
    this.#limitMs = ms;
  }

  /** A statement goes out now. */
  sent(): void {
    this.#isIdle = false;
    if (this.#timer === undefined && !this.#socket.destroyed) this.#start();
  }

  #start(): void {
    const ms = this.#limitMs;
    this.#timer = setTimeout(() => {
      this.#socket.destroy(
        new SocketFault('answer time-out', `a statement was not answered in ${ms / 1000} s`),
      );
    }, ms);
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #received(piece: Buffer): void {
    const end = piece.length >= messageBytes ? piece : Buffer.concat([this.#tail, piece]);
    this.#tail = Buffer.from(end.subarray(-messageBytes));
    const isReady = this.#tail.subarray(0, -1).equals(readyForQuery);
    if (!isReady) {
      this.#timer?.refresh();
      return;
    }
    this.#isOpen = true;
    this.#isIdle = this.#tail.at(-1) === isIdleState;
    this.#stop();
  }
}
