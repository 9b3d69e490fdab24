/**
 * A body of which the beginning is read before anybody knows who needs the whole: `beginning` gives what was read so far
 * and reads on, `all` gives everything from the first byte on.
 */
export class KeptBody {
  readonly #rest: AsyncIterator<Uint8Array>;
  readonly #kept: Uint8Array[] = [];
  #isWhole = false;

  constructor(body: AsyncIterable<Uint8Array>) {
    this.#rest = body[Symbol.asyncIterator]();
  }

  /** Stopping early leaves the rest of the body where it is. */
  async *beginning(): AsyncGenerator<Uint8Array, void, undefined> {
    yield* this.#kept;
    for (let chunk = await this.#next(); chunk !== undefined; chunk = await this.#next()) {
      this.#kept.push(chunk);
      yield chunk;
    }
  }

  async *all(): AsyncGenerator<Uint8Array, void, undefined> {
    yield* this.#kept.splice(0);
    for (let chunk = await this.#next(); chunk !== undefined; chunk = await this.#next()) yield chunk;
  }

  async #next(): Promise<Uint8Array | undefined> {
    if (this.#isWhole) return undefined;
    const result = await this.#rest.next();
    if (result.done === true) this.#isWhole = true;
    return result.done === true ? undefined : result.value;
  }
}
