import { symmetricKey } from '../crypto/read-key.ts';
import { equalsKey } from '../crypto/signature.ts';
import { credentialHeaderName, optionalHeader, soleHeader } from '../delivery.ts';
import { emptyToken, formatWithoutTime, headersNotApart, unsendableToken } from '../errors.ts';
import type { Scheme } from '../scheme.ts';
import { rejection } from '../delivery-answer.ts';
import type { SchemeOptions } from '../scheme-options.ts';
import { formatTimestamp, readTimestamp } from '../timestamp.ts';

/** From the specification, section 5. */
const defaultTokenHeader = 'x-webhook-token';

type TokenOptions = Pick<
  SchemeOptions,
  'tokenHeader' | 'timestampHeader' | 'timestampFormat' | 'nonceHeader'
>;

/**
 * A token proves the sender, not the body. A time and a nonce beside it keep a delivery from being replayed
 * (specification, section 4.2, rule 5): a delivery without a named header is rejected. Throws a `ConfigError`
 * for what is not the name of a header, and where two headers have one name.
 */
export function token(options: TokenOptions, toleranceMs: number): Scheme {
  const { tokenHeader = defaultTokenHeader, timestampFormat = 'unix' } = options;
  if (options.timestampHeader === undefined && options.timestampFormat !== undefined)
    throw formatWithoutTime();
  const header = credentialHeaderName(tokenHeader);
  const [timeHeader, nonceHeader] = [options.timestampHeader, options.nonceHeader].map((name) =>
    name === undefined ? undefined : credentialHeaderName(name),
  );
  const plainHeaders = [timeHeader, nonceHeader].filter((name) => name !== undefined);
  if (new Set([header, ...plainHeaders]).size <= plainHeaders.length) throw headersNotApart('token');
  return {
    name: 'token',
    credentialHeaders: [header],
    plainHeaders,
    ignoresBody: true,
    toleranceMs: timeHeader === undefined ? undefined : toleranceMs,
    signsUrl: false,

    key(secret) {
      const text = secret.reveal();
      if (text === '') throw emptyToken();
      // A header loses spaces at its ends and cannot hold control characters: such a token would never match.
      if (text !== text.trim() || /[\x00-\x1f\x7f]/.test(text)) throw unsendableToken();
      return symmetricKey(secret, 'utf8');
    },

    authenticate(delivery, keys) {
      const sent = soleHeader(delivery, header);
      if (!sent.ok) return sent;
      const sentToken = Buffer.from(sent.value, 'latin1');
      // Every key is compared, so that the time does not depend on the one that matches.
      const key = keys.map((candidate) => equalsKey(candidate, sentToken)).indexOf(true);
      if (key === -1) return rejection('wrong_credential', `the token in ${header} is not the right one`);
      const time = optionalHeader(delivery, timeHeader, 'missing_timestamp');
      if (!time.ok) return time;
      const timestamp = readTimestamp(time.value, timestampFormat, `the header ${timeHeader ?? ''}`);
      if (!timestamp.ok) return timestamp;
      const nonce = optionalHeader(delivery, nonceHeader, 'missing_nonce');
      return nonce.ok ? { ok: true, key, timestamp: timestamp.ms, nonce: nonce.value } : nonce;
    },

    sign(message, key, now) {
      const headers: [string, string][] = [[header, key.material.export().toString('latin1')]];
      if (timeHeader !== undefined) headers.push([timeHeader, formatTimestamp(now, timestampFormat)]);
      if (nonceHeader !== undefined) headers.push([nonceHeader, message.id]);
      return headers;
    },
  };
}
