import type { Writable } from 'node:stream';
import { OutputError } from '../errors.ts';
import { outputError } from '../files/errors.ts';
import type { Output } from '../host.ts';
import { escapeJson } from './terminal/terminal.ts';

/**
 * Writes and waits until the stream has taken the data. Rejects with an `OutputError` (disk full, I/O), or an
 * `InterruptedError` (EPIPE).
 */
export function write(stream: Writable, data: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(data, (error) => {
      if (error) reject(outputError(error));
      else resolve();
    });
  });
}

/** Writes a JSON document and a line break; on a terminal, unsafe characters are escaped. */
export function writeJson(stdout: Output, document: unknown, indent?: number): Promise<void> {
  const json = JSON.stringify(document, null, indent);
  return write(stdout, `${stdout.isTTY === true ? escapeJson(json) : json}\n`);
}

const mostUnsent = 1024 * 1024;

/**
 * The stdout of a process that may outlive its reader. A failed write is reported once and never thrown into
 * a delivery. Text of one turn of the event loop is written at once.
 */
export class StdoutWriter {
  readonly #stream: Output;
  readonly #onFailure: (error: Error) => void;
  readonly #onBehind: () => void;
  #abandoned: OutputError | undefined;
  #waiting = '';
  #unsent = 0;
  #scheduled = false;
  #failed = false;
  #idle: (() => void)[] = [];

  constructor(stream: Output, onFailure: (error: Error) => void, onBehind: () => void = () => undefined) {
    this.#stream = stream;
    this.#onFailure = onFailure;
    this.#onBehind = onBehind;
  }

  /** Set when the writer gave up a reader that had not read everything. */
  get abandoned(): OutputError | undefined {
    return this.#abandoned;
  }

  /** Gives the reader up after that time: a pipe without a reader must not keep the process. */
  giveUpAfter(ms: number): void {
    const timer = setTimeout(() => {
      if (this.#failed || this.#unsent === 0) return;
      this.#abandoned = new OutputError('cannot write to stdout: its reader stopped reading');
      this.#fail(this.#abandoned);
      for (const resolve of this.#idle.splice(0)) resolve();
    }, ms);
    timer.unref();
  }

  /** Returns undefined when there is room for more; otherwise resolves when the reader has caught up. */
  write(text: string): Promise<void> | void {
    if (text === '' || this.#failed) return;
    this.#waiting += text;
    if (!this.#scheduled) {
      this.#scheduled = true;
      setImmediate(() => this.#flush());
    }
    if (this.#unsent <= mostUnsent) return;
    this.#onBehind();
    return this.drained();
  }

  /** Resolves when everything written so far has left, or cannot leave. */
  drained(): Promise<void> {
    this.#flush();
    if (this.#unsent === 0 || this.#failed) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  #flush(): void {
    this.#scheduled = false;
    const text = this.#waiting;
    this.#waiting = '';
    if (text === '' || this.#failed) return;
    this.#unsent += text.length;
    this.#stream.write(text, (error) => {
      this.#unsent -= text.length;
      if (error) this.#fail(outputError(error, 'to stdout'));
      if (this.#unsent === 0 || this.#failed) for (const resolve of this.#idle.splice(0)) resolve();
    });
  }

  #fail(error: Error): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#onFailure(error);
  }
}
