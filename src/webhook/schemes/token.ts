import { equalsKey, symmetricKey } from '../crypto/signature.ts';
import { fieldName, soleHeader } from '../delivery.ts';
import { emptyToken, unsendableToken } from '../errors.ts';
import type { Scheme } from '../scheme.ts';
import { rejected } from '../delivery-answer.ts';

/** Of the specification, section 5. */
const defaultTokenHeader = 'x-webhook-token';

/**
 * A shared token in a header. It proves the sender, not the body. Throws a `ConfigError` for what is no name of a header.
 */
export function token(name = defaultTokenHeader): Scheme {
  const header = fieldName(name);
  return {
    name: 'token',
    credentialHeaders: [header],
    ignoresBody: true,
    toleranceMs: undefined,
    signsUrl: false,

    key(secret) {
      const text = secret.reveal();
      if (text === '') throw emptyToken();
      // A header loses spaces at its ends and cannot hold control characters: such a token would never match.
      if (text !== text.trim() || /[\x00-\x1f\x7f]/.test(text)) {
        throw unsendableToken();
      }
      return symmetricKey(secret, 'utf8');
    },

    authenticate(delivery, keys) {
      const found = soleHeader(delivery, header);
      if (!found.ok) return found;
      const received = Buffer.from(found.value, 'latin1');
      const matches = keys.map((key) => equalsKey(key, received));
      const key = matches.indexOf(true);
      if (key !== -1) return { ok: true, key };
      return rejected('wrong_credential', `the token in ${header} is not the right one`);
    },

    sign: (_, key) => [[header, key.material.export().toString('latin1')]],
  };
}
