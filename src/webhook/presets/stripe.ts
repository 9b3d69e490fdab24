import { decode, encode } from '../crypto/encoding.ts';
import { soleHeader } from '../sole-header.ts';
import { hmac, macLength, matchingKey } from '../crypto/hmac.ts';
import { symmetricKey } from '../crypto/symmetric-key.ts';
import { rejected, type Scheme } from '../scheme.ts';
import { formatTimestamp, parseTimestamp } from '../timestamp.ts';
import { maxSignatures } from '../schemes/parse-signatures.ts';

const header = 'stripe-signature';
const algorithm = 'hmac-sha256';

/** A space before a name shows that a proxy joined two headers into one. */
const isMalformed = (field: readonly string[]): boolean =>
  field.length !== 2 || !/^\w+$/.test(field[0] ?? '');

/**
 * `Stripe-Signature: t=<unix>,v1=<hex>[,v1=…]` over `<t>.<body>`, keyed with the whole secret as text, `whsec_` included.
 * Other versions are ignored. https://docs.stripe.com/webhooks/signature
 */
export const stripe = (toleranceMs: number): Scheme => ({
  name: 'stripe',
  credentialHeaders: [header],
  toleranceMs,
  key: (secret) => symmetricKey(secret, 'utf8'),

  authenticate(delivery, keys) {
    const found = soleHeader(delivery, header);
    if (!found.ok) return found;
    const fields = found.value.split(',').map((field) => field.split('='));
    if (fields.length > maxSignatures || fields.some(isMalformed)) {
      return rejected('malformed_credential', `the header ${header} is not a list of name=value`);
    }
    const named = (name: string): string[] =>
      fields.filter(([key]) => key === name).map(([, value]) => value ?? '');
    const [stamp, ...otherStamps] = named('t');
    if (stamp === undefined) return rejected('missing_timestamp', `the header ${header} has no t=`);
    if (otherStamps.length > 0) return rejected('repeated_credential', `the header ${header} has two t=`);
    const timestamp = parseTimestamp(stamp, 'unix');
    if (timestamp === undefined) {
      return rejected('malformed_timestamp', `t= in the header ${header} is not a whole number of seconds`);
    }
    const decoded = named('v1').map((text) => decode(text, 'hex'));
    if (decoded.length === 0) return rejected('malformed_credential', `the header ${header} has no v1=`);
    const candidates = decoded.filter((bytes) => bytes?.length === macLength[algorithm]) as Buffer[];
    if (candidates.length < decoded.length) {
      return rejected(
        'malformed_credential',
        `v1= in the header ${header} is not 32 bytes in lower-case hex`,
      );
    }
    const key = matchingKey(algorithm, keys, [Buffer.from(`${stamp}.`), delivery.body], { macs: candidates });
    if (key === -1) return rejected('wrong_credential', `the signature in ${header} does not match`);
    return { ok: true, key, timestamp };
  },

  sign(message, key, now) {
    const stamp = formatTimestamp(now, 'unix');
    const mac = hmac(algorithm, key, [Buffer.from(`${stamp}.`), message.body]);
    return [[header, `t=${stamp},v1=${encode(mac, 'hex')}`]];
  },
});
