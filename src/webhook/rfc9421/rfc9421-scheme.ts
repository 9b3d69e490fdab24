import { signatureOf } from '../crypto/signature.ts';
import type { SecretEncoding } from '../crypto/symmetric-key.ts';
import type { Scheme } from '../scheme.ts';
import { authenticateMessage } from './authenticate-message.ts';
import { componentOf } from './components.ts';
import { contentDigest } from './content-digest.ts';
import { coverageCheck, defaultCoverage } from './coverage.ts';
import { algorithmsOf, parseMessageKey } from './message-key.ts';
import { signatureBase } from './signature-base.ts';
import { parseDictionary } from './structured-fields.ts';

/**
 * HTTP Message Signatures (RFC 9421) with the algorithm that the key determines. By default, the signature must cover the
 * method, the whole target and `content-digest`, which is computed again from the body; it must state when it was created.
 * `expires` and `nonce` are honoured. Throws a `ConfigError` for a coverage that would prove nothing about the lead.
 */
export function rfc9421(
  toleranceMs: number,
  secretEncoding: SecretEncoding,
  required: readonly string[] = defaultCoverage,
): Scheme {
  const rejectCoverage = coverageCheck(required);
  return {
    name: 'rfc9421',
    credentialHeaders: ['signature-input', 'signature'],
    toleranceMs,
    signsUrl: true,
    key: (secret) => parseMessageKey(secret, secretEncoding),
    authenticate: (delivery, keys) => authenticateMessage(delivery, keys, rejectCoverage),

    sign(message, key, now) {
      const digest = contentDigest(message.body);
      const created = Math.floor(now / 1000);
      const [algorithm = 'hmac-sha256'] = algorithmsOf(key);
      const params = `created=${created};keyid=${quoted(key.id ?? 'leads')};nonce=${quoted(message.id)};alg="${algorithm}"`;
      const member = `sig1=("@method" "@target-uri" "content-digest");${params}`;
      const { pathname, search } = new URL(message.url);
      const rawHeaders = [['content-digest', digest]] as const;
      const request = { ...message, path: pathname + search, rawHeaders };
      const input = parseDictionary(member)?.get('sig1');
      const base =
        input !== undefined && 'items' in input
          ? signatureBase(input, (component) => componentOf(request, component))
          : undefined;
      if (base === undefined) throw new TypeError(`a delivery id that no header can carry: ${message.id}`);
      return [
        ['content-digest', digest],
        ['signature-input', member],
        ['signature', `sig1=:${signatureOf(algorithm, key, [base]).toString('base64')}:`],
      ];
    },
  };
}

const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;
