/** A body in memory, from its first byte to the answer. */
export interface BufferedBody {
  /** What it takes of the budget, in bytes; kept by the budget. */
  cost: number;
  /** Rejects its request, to make room for others. Called only while the body is not complete. */
  readonly evict: () => void;
}

/** What a piece of a body costs besides its bytes: without this, a body in pieces of one byte would be 200 times its size. */
const pieceBytes = 256;

/**
 * One limit for the memory of all bodies together. Where it is exceeded, the largest incomplete body has to go: then
 * clients that stall large bodies cannot keep out the small ones of others.
 */
export class BodyBudget {
  readonly #limit: number;
  readonly #incomplete = new Set<BufferedBody>();
  #used = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** A piece of a body was received; it may be evicted itself, which sets its cost to 0. */
  add(body: BufferedBody, bytes: number): void {
    if (body.cost === 0) this.#incomplete.add(body);
    body.cost += bytes + pieceBytes;
    this.#used += bytes + pieceBytes;
    if (this.#used > this.#limit) this.#makeRoom();
  }

  /** The body is complete: it cannot be evicted any more, and still counts. */
  complete(body: BufferedBody): void {
    this.#incomplete.delete(body);
  }

  /** The body is not needed any more. */
  release(body: BufferedBody): void {
    this.#incomplete.delete(body);
    this.#used -= body.cost;
    body.cost = 0;
  }

  #makeRoom(): void {
    while (this.#used > this.#limit && this.#incomplete.size > 0) {
      let largest: BufferedBody | undefined;
      for (const body of this.#incomplete) if (body.cost > (largest?.cost ?? 0)) largest = body;
      if (largest === undefined) return;
      this.release(largest);
      largest.evict();
    }
  }
}
