import { createHash, randomBytes } from 'node:crypto';
import { Secret } from '../secret.ts';
import { setNewest } from '../set-newest.ts';
import { type Clock, slept } from '../time/clock.ts';
import type { WireSession } from './wire.ts';

/** What a key of an address that was opened was good for. `used`: once it was one. */
export type Exchanged = WireSession | { readonly refused: 'used' | 'late' | 'wrong' };

interface InspectKeysOptions {
  readonly clock: Pick<Clock, 'steady' | 'sleep'>;
  /** The printed key is no use any more: there is a next one. */
  readonly onNext: () => void;
  /** Told of keys that never were any: the first one, the tenth, the hundredth. */
  readonly onWrong: (count: number) => void;
}

/** How long a printed key works where nobody uses it, in milliseconds. */
const keyMs = 600_000;

/** How long a page may be loaded again after its last request, in milliseconds: the browser has its reload key on its disk. */
const reloadMs = 20_000;

/** Answers to wrong keys wait for each other, so long each; more of them are not waited for. */
const wrongMs = 1_000;
const mostWaiting = 8;

/** Used keys that are known as such, and sessions at one time. */
const mostRemembered = 1_000;

interface Session {
  /** As a digest. */
  readonly reloadKey: string;
  /** The digest of the token before, where the page was loaded again. */
  readonly before: string | undefined;
  usedAt: number;
}

/**
 * Exchanges the key of the printed address for the token of a session. A browser records the addresses that it opens before a
 * script can change them, so a key works once, and not for long; a token is good as long as the process, and is in the memory
 * of its page alone. Secrets are known by their digests: how long it takes to look one up tells nothing about them.
 */
export class InspectKeys {
  readonly #options: InspectKeysOptions;
  readonly #ended = new AbortController();
  #key = newSecret();
  #usableUntil: number;
  readonly #used = new Map<string, true>();
  readonly #sessions = new Map<string, Session>();
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

  /** A session for the key, which it uses up; resolves late for what never was one. */
  async exchange(key: string): Promise<Exchanged> {
    if (digest(key) === digest(this.#key.reveal())) return this.#use();
    if (this.#used.has(digest(key))) return { refused: 'used' };
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
    setNewest(this.#used, digest(this.#key.reveal()), true, mostRemembered);
    this.#key = newSecret();
    this.#usableUntil = clock.steady() + keyMs;
    onNext();
    return isLate ? { refused: 'late' } : this.#begin();
  }

  /** A session for a page that was loaded again; undefined for a reload key that is unknown or old. */
  reload(reloadKey: string): WireSession | undefined {
    const given = digest(reloadKey);
    const since = this.#options.clock.steady() - reloadMs;
    const known = [...this.#sessions].find(([, one]) => one.reloadKey === given && one.usedAt > since);
    return known && this.#begin(known[0]);
  }

  #begin(before?: string): WireSession {
    const session = { token: newSecret().reveal(), reloadKey: newSecret().reveal() };
    const begun = { reloadKey: digest(session.reloadKey), before, usedAt: this.#options.clock.steady() };
    setNewest(this.#sessions, digest(session.token), begun, mostRemembered);
    return session;
  }

  /** Whether it is the token of a session, which is used with it. */
  isToken(text: string): boolean {
    const session = this.#sessions.get(digest(text));
    if (session === undefined) return false;
    session.usedAt = this.#options.clock.steady();
    // The new token has reached its page: only now is the reload key that it was had for used up.
    if (session.before !== undefined) this.#sessions.delete(session.before);
    return true;
  }

  /** Nobody waits any more. */
  close(): void {
    this.#ended.abort();
  }
}

const newSecret = (): Secret => new Secret(randomBytes(32).toString('base64url'));

const digest = (text: string): string => createHash('sha256').update(text).digest('base64');
