import { decode, encode } from '../encoding.ts';
import { soleHeader } from '../headers.ts';
import { hmac, macLength, matchingKey } from '../hmac.ts';
import { symmetricKey } from '../key.ts';
import { rejected, type Scheme } from '../scheme.ts';
import { formatTimestamp, parseTimestamp } from '../timestamp.ts';
import { maxSignatures } from './parse-signatures.ts';

const header = 'stripe-signature';
const algorithm = 'hmac-sha256';

/** A blank before a name is a second header that a proxy folded into the first. */
const malformed = (field: readonly string[]): boolean => field.length !== 2 || !/^\w+$/.test(field[0] ?? '');

/**
 * `Stripe-Signature: t=<unix>,v1=<hex>[,v1=…]` over `<t>.<body>`, keyed with the whole secret as text, `whsec_` included.
 * Other versions stand beside and are passed over. https://docs.stripe.com/webhooks/signature
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
    if (fields.length > maxSignatures || fields.some(malformed)) {
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
    const given = named('v1').map((text) => decode(text, 'hex'));
    if (given.length === 0) return rejected('malformed_credential', `the header ${header} has no v1=`);
    const candidates = given.filter((bytes) => bytes?.length === macLength[algorithm]) as Buffer[];
    if (candidates.length < given.length) {
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
