import { createHash, randomBytes } from 'node:crypto';
import { Secret } from '../secret.ts';
import { setNewest } from '../set-newest.ts';
import { type Clock, slept } from '../time/clock.ts';
import type { WireSession } from './wire.ts';

/** The session that a key opened, or why it opened none. `used`: it opened one before. */
export type Exchanged = WireSession | { readonly refused: 'used' | 'late' | 'wrong' };

interface InspectKeysOptions {
  readonly clock: Pick<Clock, 'steady' | 'sleep'>;
  /** The printed key is no use any more: there is a next one. */
  readonly onNext: () => void;
  /** Told of keys that never were any: the first one, the tenth, the hundredth. */
  readonly onWrong: (count: number) => void;
}

/** A printed key that is not used works for this long, in milliseconds. */
const keyMs = 600_000;

/** A page may be loaded again for this long after its last request, in milliseconds: its reload key is on the disk. */
const reloadMs = 20_000;

/** Answers to wrong keys wait for each other, so long each; more of them are not waited for. */
const wrongMs = 1_000;
const mostWaiting = 8;

/** Used keys that are known as such, and sessions at one time. */
const mostRemembered = 1_000;

/** A session, whose secrets are kept as digests. */
interface Session {
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

  /** The key of the address that is to be printed now. */
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
    const keyDigest = digest(reloadKey);
    const since = this.#options.clock.steady() - reloadMs;
    const session = [...this.#sessions].find(
      ([, { reloadKey: stored, usedAt }]) => stored === keyDigest && usedAt > since,
    );
    return session && this.#begin(session[0]);
  }

  #begin(before?: string): WireSession {
    const session = { token: newSecret().reveal(), reloadKey: newSecret().reveal() };
    const digests = { reloadKey: digest(session.reloadKey), before, usedAt: this.#options.clock.steady() };
    setNewest(this.#sessions, digest(session.token), digests, mostRemembered);
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

  /** Ends the waiting of answers to wrong keys. */
  close(): void {
    this.#ended.abort();
  }
}

const newSecret = (): Secret => new Secret(randomBytes(32).toString('base64url'));

const digest = (text: string): string => createHash('sha256').update(text).digest('base64');
