import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { Secret } from '../secret.ts';
import { type Clock, slept } from '../time/clock.ts';

/** What a key of an address that was opened was good for. `used`: once it was one. */
export type Exchanged = { readonly token: string } | { readonly refused: 'used' | 'late' | 'wrong' };

export interface InspectKeysOptions {
  readonly clock: Pick<Clock, 'steady' | 'sleep'>;
  /** The printed one is no use any more: there is a next one. */
  readonly onNext: () => void;
  /** Told of keys that never were any: the first one, the tenth, the hundredth. */
  readonly onWrong: (count: number) => void;
}

/** How long a printed key works where nobody uses it, in milliseconds. */
const keyMs = 600_000;

/** Answers to wrong keys wait for each other, so long each; more of them are not waited for. */
const wrongMs = 1_000;
const mostWaiting = 8;

/** Used keys that are known as such, and sessions at one time. */
const mostRemembered = 1_000;

/**
 * Who opened the printed address, and who has exchanged its key for a token. A browser records the addresses that it opens
 * before a script can change them, so a key works once, and not for long; a token is good as long as the process. What a
 * session keeps opens no other one.
 */
export class InspectKeys {
  readonly #options: InspectKeysOptions;
  readonly #ended = new AbortController();
  #key = newSecret();
  #usableUntil: number;
  readonly #used = new Digests();
  readonly #tokens = new Digests();
  #wrong = 0;
  #waiting = 0;
  #lastAnswer: Promise<unknown> = Promise.resolve();

  constructor(options: InspectKeysOptions) {
    this.#options = options;
    this.#usableUntil = options.clock.steady() + keyMs;
  }

  /** Of the address that is to be printed now. */
  get key(): Secret {
    return this.#key;
  }

  /** A token for the key, which it uses up; resolves late for what never was one. */
  async exchange(key: string): Promise<Exchanged> {
    if (timingSafeEqual(digest(key), digest(this.#key.reveal()))) return this.#use();
    if (this.#used.has(key)) return { refused: 'used' };
    this.#wrong += 1;
    if (/^10*$/.test(String(this.#wrong))) this.#options.onWrong(this.#wrong);
    if (this.#waiting < mostWaiting) {
      this.#waiting += 1;
      const { clock } = this.#options;
      this.#lastAnswer = this.#lastAnswer.then(() => slept(clock, wrongMs, this.#ended.signal));
      await this.#lastAnswer;
      this.#waiting -= 1;
    }
    return { refused: 'wrong' };
  }

  #use(): Exchanged {
    const { clock, onNext } = this.#options;
    const isLate = clock.steady() >= this.#usableUntil;
    this.#used.add(this.#key.reveal());
    this.#key = newSecret();
    this.#usableUntil = clock.steady() + keyMs;
    onNext();
    if (isLate) return { refused: 'late' };
    const token = newSecret().reveal();
    this.#tokens.add(token);
    return { token };
  }

  isToken(text: string): boolean {
    return this.#tokens.has(text);
  }

  /** Nobody waits any more. */
  close(): void {
    this.#ended.abort();
  }
}

const newSecret = (): Secret => new Secret(randomBytes(32).toString('base64url'));

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** The newest of some secrets: what the look-up takes depends on a digest, which tells nothing about them. */
class Digests {
  readonly #known = new Set<string>();

  has(text: string): boolean {
    return this.#known.has(digest(text).toString('base64'));
  }

  add(text: string): void {
    this.#known.add(digest(text).toString('base64'));
    const [oldest] = this.#known;
    if (this.#known.size > mostRemembered && oldest !== undefined) this.#known.delete(oldest);
  }
}
