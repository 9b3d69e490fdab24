import { createHash, randomBytes } from 'node:crypto';
import { Secret } from '../secret.ts';
import type { Clock } from '../time/clock.ts';
import type { WireSession } from './wire.ts';

interface InspectKeysOptions {
  readonly clock: Pick<Clock, 'steady'>;
  /** Is called when the printed key was used, and there is a next one to print. */
  readonly onNextKey: () => void;
}

const unusedKeyMs = 600_000;

/** A page may be reloaded only this long after its last request, because its reload key is on the disk. */
const reloadMs = 20_000;

const mostSessions = 1_000;

/** The digests of the reload key, and of the token before a reload of the page. Sessions are found by the digest of their token. */
interface Session {
  readonly reloadKey: string;
  readonly previousToken: string | undefined;
  usedAt: number;
}

/**
 * Exchanges the key of the printed address for the token of a session. A browser records addresses before a
 * script can change them, so a key works once and for ten minutes, while the token is only in the memory of its
 * page and works as long as the process. Secrets are looked up by their digests, so that the time tells nothing
 * about them.
 */
export class InspectKeys {
  readonly #options: InspectKeysOptions;
  #key = newSecret();
  #usableUntil: number;
  readonly #sessions = new Map<string, Session>();

  constructor(options: InspectKeysOptions) {
    this.#options = options;
    this.#usableUntil = options.clock.steady() + unusedKeyMs;
  }

  get key(): Secret {
    return this.#key;
  }

  /** Uses up the key. Returns undefined for any other key, and for one that is too old. */
  exchange(key: string): WireSession | undefined {
    const { clock, onNextKey } = this.#options;
    if (digest(key) !== digest(this.#key.reveal())) return undefined;
    const isLate = clock.steady() >= this.#usableUntil;
    this.#key = newSecret();
    this.#usableUntil = clock.steady() + unusedKeyMs;
    onNextKey();
    return isLate ? undefined : this.#begin();
  }

  reload(reloadKey: string): WireSession | undefined {
    const keyDigest = digest(reloadKey);
    const since = this.#options.clock.steady() - reloadMs;
    const [previousToken] =
      [...this.#sessions].find(([, session]) => session.reloadKey === keyDigest && session.usedAt > since) ??
      [];
    return previousToken === undefined ? undefined : this.#begin(previousToken);
  }

  #begin(previousToken?: string): WireSession {
    const session = { token: newSecret().reveal(), reloadKey: newSecret().reveal() };
    const digests = {
      reloadKey: digest(session.reloadKey),
      previousToken,
      usedAt: this.#options.clock.steady(),
    };
    this.#sessions.set(digest(session.token), digests);
    const [oldest = ''] = this.#sessions.keys();
    if (this.#sessions.size > mostSessions) this.#sessions.delete(oldest);
    return session;
  }

  /** Whether this is the token of a session, whose use is noted. */
  useToken(text: string): boolean {
    const session = this.#sessions.get(digest(text));
    if (session === undefined) return false;
    session.usedAt = this.#options.clock.steady();
    // The page has its new token, so that the session before the reload, with its reload key, is not needed.
    if (session.previousToken !== undefined) this.#sessions.delete(session.previousToken);
    return true;
  }
}

const newSecret = (): Secret => new Secret(randomBytes(32).toString('base64url'));

const digest = (text: string): string => createHash('sha256').update(text).digest('base64');
