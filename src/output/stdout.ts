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

/** Returns a JSON document and a line break; for a terminal, unsafe characters are escaped. */
export function jsonText({ isTTY }: Output, document: unknown, indent?: number): string {
  const json = JSON.stringify(document, null, indent);
  return `${isTTY === true ? escapeJson(json) : json}\n`;
}

export const writeJson = (stdout: Output, document: unknown, indent?: number): Promise<void> =>
  write(stdout, jsonText(stdout, document, indent));

const mostUnsentCharacters = 1024 * 1024;

/**
 * The stdout of a process that may outlive its reader. Text of one turn of the event loop goes to the stream at once, at the
 * end of the turn; a caller that writes faster than the reader reads gets a promise to wait for. A failed write is reported
 * once, to `onFailure`; afterwards everything is dropped, so that the caller goes on without a reader.
 */
export class StdoutWriter {
  readonly #stream: Output;
  readonly #onFailure: (error: Error) => void;
  readonly #onSlowReader: () => void;
  #abandoned: OutputError | undefined;
  #textOfThisTurn = '';
  #isFlushScheduled = false;
  #unsentCharacters = 0;
  #hasFailed = false;
  #drainListeners: (() => void)[] = [];

  constructor(stream: Output, onFailure: (error: Error) => void, onSlowReader: () => void = () => undefined) {
    this.#stream = stream;
    this.#onFailure = onFailure;
    this.#onSlowReader = onSlowReader;
  }

  /** The error of `abandonAfter`, when it has given up a reader that had not read everything. */
  get abandoned(): OutputError | undefined {
    return this.#abandoned;
  }

  /** Fails after that time if text is unsent then: a pipe without a reader must not keep the process. */
  abandonAfter(ms: number): void {
    const timer = setTimeout(() => {
      if (this.#hasFailed || this.#unsentCharacters === 0) return;
      this.#abandoned = new OutputError('cannot write to stdout: its reader stopped reading');
      this.#fail(this.#abandoned);
    }, ms);
    timer.unref();
  }

  /** Returns undefined when there is room for more; otherwise resolves when the reader has caught up. */
  write(text: string): Promise<void> | void {
    if (text === '' || this.#hasFailed) return;
    this.#textOfThisTurn += text;
    if (!this.#isFlushScheduled) {
      this.#isFlushScheduled = true;
      setImmediate(() => this.#flush());
    }
    if (this.#unsentCharacters <= mostUnsentCharacters) return;
    this.#onSlowReader();
    return this.drained();
  }

  /** Resolves when everything written so far has left, or cannot leave. */
  drained(): Promise<void> {
    this.#flush();
    if (this.#unsentCharacters === 0 || this.#hasFailed) return Promise.resolve();
    return new Promise((resolve) => this.#drainListeners.push(resolve));
  }

  #flush(): void {
    this.#isFlushScheduled = false;
    const text = this.#textOfThisTurn;
    this.#textOfThisTurn = '';
    if (text === '' || this.#hasFailed) return;
    this.#unsentCharacters += text.length;
    this.#stream.write(text, (error) => {
      this.#unsentCharacters -= text.length;
      if (error) this.#fail(outputError(error, 'to stdout'));
      if (this.#unsentCharacters === 0) this.#endWaits();
    });
  }

  #fail(error: Error): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#onFailure(error);
    this.#endWaits();
  }

  #endWaits(): void {
    for (const resolve of this.#drainListeners.splice(0)) resolve();
  }
}
