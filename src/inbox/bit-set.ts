const least = 1024;

/** A set of whole numbers from 0: a bit for each number up to the largest one. */
export class BitSet {
  #bytes = new Uint8Array(least);

  add(number: number): void {
    // Shifting would cut off what is beyond 32 bits.
    const at = Math.floor(number / 8);
    if (at >= this.#bytes.length) this.#grow(at + 1);
    this.#bytes[at] = (this.#bytes[at] as number) | (1 << (number % 8));
  }

  has(number: number): boolean {
    return ((this.#bytes[Math.floor(number / 8)] ?? 0) & (1 << (number % 8))) !== 0;
  }

  /** Whether it was there. */
  delete(number: number): boolean {
    if (!this.has(number)) return false;
    const at = Math.floor(number / 8);
    this.#bytes[at] = (this.#bytes[at] as number) & ~(1 << (number % 8));
    return true;
  }

  #grow(length: number): void {
    const bytes = new Uint8Array(Math.max(length, Math.ceil(this.#bytes.length * 1.5)));
    bytes.set(this.#bytes);
    this.#bytes = bytes;
  }
}
