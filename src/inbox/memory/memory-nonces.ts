import { clearedPerAdded } from '../sqlite/nonces.ts';

interface Bound {
  readonly digest: string;
  readonly expires: number;
}

/** The replay guard of a store in memory: each nonce is good for one body, for as long as it could verify. */
export class MemoryNonces {
  /** By nonce, first to expire first. */
  readonly #bound = new Map<string, Bound>();
  readonly #lifetimeMs: number;

  constructor(lifetimeMs: number) {
    this.#lifetimeMs = lifetimeMs;
  }

  /** Binds the nonce to the body's digest; false when it is bound to another one. */
  bind(nonce: string, digest: string, now: number): boolean {
    const bound = this.#bound.get(nonce);
    if (bound !== undefined && bound.expires > now) return bound.digest === digest;
    this.#bound.delete(nonce);
    this.#bound.set(nonce, { digest, expires: now + this.#lifetimeMs });
    this.#clear(now);
    return true;
  }

  /** Some of those past their time, so that a great many of them are no pause. */
  #clear(now: number): void {
    let left = clearedPerAdded;
    for (const [nonce, { expires }] of this.#bound) {
      if (left === 0 || expires > now) return;
      this.#bound.delete(nonce);
      left -= 1;
    }
  }
}
