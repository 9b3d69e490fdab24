import { noncesRemovedPerAdded } from '../store-limits.ts';

interface BoundNonce {
  readonly digest: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

/** The replay guard of a store in memory: each nonce is good for one body, for as long as it could verify. */
export class MemoryNonces {
  /** By nonce, first to expire first. */
  readonly #bound = new Map<string, BoundNonce>();
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
    this.#removeExpired(now);
    return true;
  }

  /** Only some of them at a time, so that a great many are no pause. */
  #removeExpired(now: number): void {
    let left = noncesRemovedPerAdded;
    for (const [nonce, { expires }] of this.#bound) {
      if (left === 0 || expires > now) return;
      this.#bound.delete(nonce);
      left -= 1;
    }
  }
}
