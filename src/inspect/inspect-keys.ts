import { createHash, randomBytes } from 'node:crypto';
import { Secret } from '../secret.ts';
import { setNewest } from '../set-newest.ts';
import type { Clock } from '../time/clock.ts';
import type { WireSession } from './wire.ts';

interface InspectKeysOptions {
  readonly clock: Pick<Clock, 'steady'>;
  /** The printed key is no use any more: there is a next one. */
  readonly onNext: () => void;
  /** Told of keys that never were any: the first one, the tenth, the hundredth. */
  readonly onWrong: (count: number) => void;
}

/** A printed key that is not used works for this long, in milliseconds. */
const keyMs = 600_000;

/** A page may be loaded again for this long after its last request, in milliseconds: its reload key is on the disk. */
const reloadMs = 20_000;

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
 * of its page alone. Its 256 bits cannot be guessed. Secrets are known by their digests: how long it takes to look one up tells nothing about them.
 */
export class InspectKeys {
  readonly #options: InspectKeysOptions;
  #key = newSecret();
  #usableUntil: number;
  readonly #used = new Map<string, true>();
  readonly #sessions = new Map<string, Session>();
  #wrong = 0;

  constructor(options: InspectKeysOptions) {
    this.#options = options;
    this.#usableUntil = options.clock.steady() + keyMs;
  }

  /** The key of the address that is to be printed now. */
  get key(): Secret {
    return this.#key;
  }

  /** A session for the key, which works once; undefined for any other key, and for one that is too old. */
  exchange(key: string): WireSession | undefined {
    const { clock, onNext, onWrong } = this.#options;
    if (digest(key) !== digest(this.#key.reveal())) {
      if (this.#used.has(digest(key))) return undefined;
      this.#wrong += 1;
      if (/^10*$/.test(String(this.#wrong))) onWrong(this.#wrong);
      return undefined;
    }
    const isLate = clock.steady() >= this.#usableUntil;
    setNewest(this.#used, digest(key), true, mostRemembered);
    this.#key = newSecret();
    this.#usableUntil = clock.steady() + keyMs;
    onNext();
    return isLate ? undefined : this.#begin();
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
}

const newSecret = (): Secret => new Secret(randomBytes(32).toString('base64url'));

const digest = (text: string): string => createHash('sha256').update(text).digest('base64');
