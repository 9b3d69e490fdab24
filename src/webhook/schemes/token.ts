import { equalsKey, symmetricKey } from '../crypto/signature.ts';
import { fieldName, soleHeader } from '../delivery.ts';
import { emptyToken, unsendableToken } from '../errors.ts';
import type { Scheme } from '../scheme.ts';
import { rejection } from '../delivery-answer.ts';

/** The specification, section 5, sets this name. */
const defaultTokenHeader = 'x-webhook-token';

/**
 * A token proves the sender, not the body. Throws a `ConfigError` for a text that is not a name of a header.
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
      // A header loses spaces at its ends and cannot hold control characters, so such a token would never
      // match.
      if (text !== text.trim() || /[\x00-\x1f\x7f]/.test(text)) {
        throw unsendableToken();
      }
      return symmetricKey(secret, 'utf8');
    },

    authenticate(delivery, keys) {
      const sole = soleHeader(delivery, header);
      if (!sole.ok) return sole;
      const received = Buffer.from(sole.value, 'latin1');
      const matches = keys.map((key) => equalsKey(key, received));
      const key = matches.indexOf(true);
      if (key !== -1) return { ok: true, key };
      return rejection('wrong_credential', `the token in ${header} is not the right one`);
    },

    sign: (_, key) => [[header, key.material.export().toString('latin1')]],
  };
}
