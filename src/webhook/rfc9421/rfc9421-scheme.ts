import { UsageError } from '../../errors.ts';
import { signatureOf } from '../crypto/signature.ts';
import type { SecretEncoding } from '../crypto/symmetric-key.ts';
import type { Scheme } from '../scheme.ts';
import { authenticateMessage } from './authenticate-message.ts';
import { componentOf } from './components.ts';
import { contentDigest } from './content-digest.ts';
import { coverageCheck, defaultCoverage, requiredComponents } from './coverage.ts';
import { algorithmsOf, parseMessageKey } from './message-key.ts';
import { signatureBase } from './signature-base.ts';
import { parseDictionary } from './structured-fields.ts';

/**
 * HTTP Message Signatures (RFC 9421) with the algorithm that the key determines. By default, the signature must cover the
 * method, the whole target and `content-digest`, which is computed again from the body; it must state when it was created.
 * `expires` and `nonce` are honoured. What it signs itself covers what is required and no more. Throws a `ConfigError` for
 * a coverage that would prove nothing about the lead; `sign` throws a `UsageError` for a header that it does not send.
 */
export function rfc9421(
  toleranceMs: number,
  secretEncoding: SecretEncoding,
  required: readonly string[] = defaultCoverage,
): Scheme {
  const rejectCoverage = coverageCheck(required);
  const components = requiredComponents(required);
  return {
    name: 'rfc9421',
    credentialHeaders: ['signature-input', 'signature'],
    toleranceMs,
    signsUrl: true,
    key: (secret) => parseMessageKey(secret, secretEncoding),
    authenticate: (delivery, keys) => authenticateMessage(delivery, keys, rejectCoverage),

    sign(message, key, now) {
      const created = Math.floor(now / 1000);
      const [algorithm = 'hmac-sha256'] = algorithmsOf(key);
      const params = `created=${created};keyid=${quoted(key.id ?? 'leads')};nonce=${quoted(message.id)};alg="${algorithm}"`;
      const member = `sig1=(${components.map(quoted).join(' ')});${params}`;
      const input = parseDictionary(member)?.get('sig1');
      if (input === undefined || !('items' in input)) {
        throw new TypeError(`a delivery id that no header can carry: ${message.id}`);
      }
      const { pathname, search, host } = new URL(message.url);
      const added = signedHeaders(message.body, components, now);
      const rawHeaders = [...added, ...headersOfDelivery(message.body, host)];
      const request = { ...message, path: pathname + search, rawHeaders };
      const base = signatureBase(input, (component) => componentOf(request, component));
      if (base === undefined) {
        const absent = input.items.filter((component) => componentOf(request, component) === undefined);
        const names = absent.map(({ bare }) => String(bare.value)).join(' and ');
        throw new UsageError(`what is sent here has no ${names} that a signature could cover`, {
          hint: `leave out of --require what only another sender can sign`,
        });
      }
      const signature = signatureOf(algorithm, key, [base]).toString('base64');
      return [...added, ['signature-input', member], ['signature', `sig1=:${signature}:`]];
    },
  };
}

type Headers = readonly (readonly [name: string, value: string])[];

/** Those that are sent because the signature covers them. */
function signedHeaders(body: Uint8Array, components: readonly string[], now: number): Headers {
  const digest = ['content-digest', contentDigest(body)] as const;
  const isDated = components.includes('date');
  return isDated ? [digest, ['date', new Date(now).toUTCString()]] : [digest];
}

/** Those that every delivery has. */
const headersOfDelivery = ({ length }: Uint8Array, host: string): Headers => [
  ['host', host],
  ['content-type', 'application/json'],
  ['content-length', String(length)],
];

const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;
