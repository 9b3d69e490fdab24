import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { Secret } from '../../secret.ts';

/**
 * Who opened the printed address, and who has exchanged its key for a token. Both are good as long as the process. The
 * token is apart from the key, so that what a page keeps does not open another one.
 */
export class InspectKey {
  readonly key = newSecret();
  readonly #token = newSecret();

  /** The token for the key of the address; undefined for any other text. */
  tokenFor(key: string): string | undefined {
    return isSame(key, this.key) ? this.#token.reveal() : undefined;
  }

  isToken(text: string): boolean {
    return isSame(text, this.#token);
  }
}

const newSecret = (): Secret => new Secret(randomBytes(32).toString('base64url'));

/** Takes the same time whatever differs. */
const isSame = (text: string, secret: Secret): boolean =>
  timingSafeEqual(digest(text), digest(secret.reveal()));

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
