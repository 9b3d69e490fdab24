import type { ByteSink } from './record-types.ts';

const capacity = 256 * 1024;

/** Gathers small pieces into large writes; its memory is the same at any number of records. */
export class WriteBuffer {
  readonly #sink: ByteSink;
  readonly #buffer = Buffer.allocUnsafe(capacity);
  #used = 0;

  constructor(sink: ByteSink) {
    this.#sink = sink;
  }

  /** Whether a piece of that length fits; otherwise `flush` first. */
  fits(length: number): boolean {
    return this.#used + length <= capacity;
  }

  /** Adds a piece that `fits`, and one byte after it. */
  add(bytes: Uint8Array, terminator: number): void {
    this.#buffer.set(bytes, this.#used);
    this.#used += bytes.length;
    this.#buffer[this.#used] = terminator;
    this.#used += 1;
  }

  /** Bytes that still fit. */
  get room(): number {
    return capacity - this.#used;
  }

  /** Adds records that lie side by side, from `start`; the byte after each of the `ends` becomes `terminator`. */
  addRun(source: Uint8Array, start: number, ends: readonly number[], terminator: number): void {
    const shift = this.#used - start;
    const end = ends.at(-1) ?? start;
    this.#buffer.set(source.subarray(start, end), this.#used);
    for (const at of ends) this.#buffer[at + shift] = terminator;
    this.#used += end - start + 1;
  }

  /** Adds a piece of any length. */
  async addAny(bytes: Uint8Array): Promise<void> {
    if (!this.fits(bytes.length)) await this.flush();
    if (bytes.length > capacity) return this.#sink.write(bytes);
    this.#buffer.set(bytes, this.#used);
    this.#used += bytes.length;
  }

  async flush(): Promise<void> {
    const used = this.#used;
    if (used === 0) return;
    this.#used = 0;
    await this.#sink.write(this.#buffer.subarray(0, used));
  }
}
