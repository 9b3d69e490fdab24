import { ConfigError } from '../../errors.ts';
import { equal } from '../equal.ts';
import { soleHeader } from '../headers.ts';
import { symmetricKey } from '../key.ts';
import { rejected, type Scheme } from '../scheme.ts';

const header = 'x-webhook-token';

/** A shared token in `x-webhook-token` (specification, section 5). It proves the sender, not the body. */
export const token: Scheme = {
  name: 'token',
  credentialHeaders: [header],
  toleranceMs: undefined,

  key(secret) {
    const text = secret.reveal();
    if (text === '') throw new ConfigError('the webhook token is empty');
    // A header loses blanks at its ends and cannot carry control characters: such a token would never match.
    if (text !== text.trim() || /[\x00-\x1f\x7f]/.test(text)) {
      throw new ConfigError('the webhook token has blanks at its ends or control characters in it', {
        hint: 'a header cannot carry it; check the file or variable that it comes from',
      });
    }
    return symmetricKey(secret, 'utf8');
  },

  authenticate(delivery, keys) {
    const found = soleHeader(delivery, header);
    if (!found.ok) return found;
    const given = Buffer.from(found.value, 'latin1');
    const matches = keys.map((key) => equal(key.material.export(), given));
    const key = matches.indexOf(true);
    if (key !== -1) return { ok: true, key };
    return rejected('wrong_credential', `the token in ${header} is not the right one`);
  },

  sign: (_, key) => [[header, key.material.export().toString('latin1')]],
};
