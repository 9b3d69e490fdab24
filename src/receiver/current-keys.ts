import type { Clock } from '../time/clock.ts';
import type { Key, Scheme, Verifier } from '../webhook/scheme.ts';

/** Of the secrets that were replaced, how many are still taken out of what is stored: each costs every delivery a search. */
const mostFormer = 20;

/** The keys that are in force, which are replaced all at once: each delivery is checked with the former or the new ones. */
export class CurrentKeys implements Verifier {
  readonly scheme: Scheme;
  keys: readonly Key[];
  former: readonly Key[] = [];
  /** How often they were replaced. */
  replaced = 0;
  readonly #clock: Pick<Clock, 'now'>;
  /** Of each key: when a delivery last used it, or since when it is in force. */
  #usedAt: number[] = [];
  #isFirstUsed = false;
  readonly #noted = new Set<number>();

  constructor({ scheme, keys }: Verifier, clock: Pick<Clock, 'now'>) {
    this.scheme = scheme;
    this.keys = keys;
    this.#clock = clock;
    this.#begin();
  }

  replace(keys: readonly Key[]): void {
    const removed = this.keys.filter((key) => !keys.includes(key));
    this.former = [...removed, ...this.former].slice(0, mostFormer);
    this.keys = keys;
    this.replaced += 1;
    this.#begin();
  }

  /** A delivery was authenticated with the key at this index. */
  used(index: number): void {
    this.#usedAt[index] = this.#clock.now();
    this.#isFirstUsed ||= index === 0;
  }

  /**
   * The indexes of keys behind the first one that no delivery has used for so long, each once. Where the first one was not
   * used either, it is not known which of them the sender has.
   */
  unused(ms: number): readonly number[] {
    const before = this.#clock.now() - ms;
    const found = this.keys.flatMap((key, index) => {
      const isUnused = index > 0 && this.#isFirstUsed && (this.#usedAt[index] ?? 0) <= before;
      // A secret may be given twice, and then its first place counts.
      const isFirst = this.keys.findIndex(({ secret }) => secret.reveal() === key.secret.reveal()) === index;
      return isUnused && isFirst && !this.#noted.has(index) ? [index] : [];
    });
    for (const index of found) this.#noted.add(index);
    return found;
  }

  #begin(): void {
    this.#usedAt = this.keys.map(() => this.#clock.now());
    this.#isFirstUsed = false;
    this.#noted.clear();
  }
}
