import { drawFor } from './data/seeded-random.ts';
import type { Fault, Faults } from './faults.ts';

/** Decides, by seed and key alone, which faults happen, and counts them. */
export class FaultInjector<N extends string> {
  faults: Faults<N>;
  /** How often each fault happened. */
  readonly injected = new Map<N, number>();
  readonly #seed: number;

  constructor(seed: number, faults: Faults<N>) {
    this.#seed = seed;
    this.faults = faults;
  }

  /** The fault, when it happens to what `key` names. */
  draw(name: N, key: string): Fault | undefined {
    const fault = this.faults[name];
    if (fault === undefined || drawFor(this.#seed, `${name} ${key}`) >= fault.chance) return undefined;
    this.injected.set(name, (this.injected.get(name) ?? 0) + 1);
    return fault;
  }

  /** The first of these faults that happens; those after it are not drawn. */
  drawFirst<S extends N>(
    names: readonly S[],
    key: string,
  ): { readonly name: S; readonly fault: Fault } | undefined {
    for (const name of names) {
      const fault = this.draw(name, key);
      if (fault !== undefined) return { name, fault };
    }
    return undefined;
  }
}
