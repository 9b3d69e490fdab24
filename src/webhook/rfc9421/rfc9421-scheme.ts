import type { Delivery } from '../delivery.ts';
import { soleHeader } from '../sole-header.ts';
import type { SecretEncoding } from '../crypto/symmetric-key.ts';
import { componentOf, coveredComponents, signatureBase, type SignatureInput } from './signature-base.ts';
import { contentDigest, digestMatches } from './content-digest.ts';
import { algorithmOf, parseMessageKey, signatureMatches, signatureOf } from './message-key.ts';
import { type Member, parseDictionary } from './structured-fields.ts';
import { type Key, rejected, type Rejected, type Scheme, type Verification } from '../scheme.ts';

/** The signature of the sender, and at most a few by proxies. */
const maxLabels = 4;

/**
 * HTTP Message Signatures (RFC 9421) with HMAC-SHA256, Ed25519 or ECDSA P-256, as the key determines. The signature must
 * cover the method, the whole target and `content-digest`, which is computed again from the body, and state when it was
 * created. `expires` and `nonce` are honoured, and a key with an id (a JWK's `kid`) is used for that `keyid` only.
 */
export const rfc9421 = (toleranceMs: number, secretEncoding: SecretEncoding): Scheme => ({
  name: 'rfc9421',
  credentialHeaders: ['signature', 'signature-input'],
  toleranceMs,
  key: (secret) => parseMessageKey(secret, secretEncoding),

  authenticate(delivery, keys) {
    const inputs = dictionaryHeader(delivery, 'signature-input');
    if ('ok' in inputs) return inputs;
    const signatures = dictionaryHeader(delivery, 'signature');
    if ('ok' in signatures) return signatures;
    const labels = [...inputs.keys()];
    if (labels.length > maxLabels || labels.length !== signatures.size) {
      return rejected(
        'malformed_credential',
        'signature-input and signature do not name the same signatures',
      );
    }
    const results = labels.map((label) =>
      authenticateSignature(delivery, keys, inputs.get(label), signatures.get(label)),
    );
    const result = results.find((verification) => verification.ok) ?? results[0];
    return result ?? rejected('missing_credential', 'the delivery is not signed');
  },

  sign(message, key, now) {
    const digest = contentDigest(message.body);
    const created = Math.floor(now / 1000);
    const params = `created=${created};keyid=${quoted(key.id ?? 'leads')};nonce=${quoted(message.id)};alg="${algorithmOf(key)}"`;
    const member = `sig1=("@method" "@target-uri" "content-digest");${params}`;
    const { pathname, search } = new URL(message.url);
    const request = {
      ...message,
      path: pathname + search,
      rawHeaders: [['content-digest', digest]],
    } as const;
    const input = inputOf(parseDictionary(member)?.get('sig1'));
    const base = input && signatureBase(input, (name) => componentOf(request, name));
    if (base === undefined) throw new TypeError(`a delivery id that no header can carry: ${message.id}`);
    return [
      ['content-digest', digest],
      ['signature-input', member],
      ['signature', `sig1=:${signatureOf(key, base).toString('base64')}:`],
    ];
  },
});

const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;

function dictionaryHeader(delivery: Delivery, name: string): ReadonlyMap<string, Member> | Rejected {
  const found = soleHeader(delivery, name);
  if (!found.ok) return found;
  return (
    parseDictionary(found.value) ??
    rejected('malformed_credential', `the header ${name} is not a dictionary (RFC 8941)`)
  );
}

const inputOf = (member: Member | undefined): SignatureInput | undefined =>
  member !== undefined && 'items' in member ? member : undefined;

function authenticateSignature(
  delivery: Delivery,
  keys: readonly Key[],
  inputMember: Member | undefined,
  signature: Member | undefined,
): Verification {
  const input = inputOf(inputMember);
  if (
    input === undefined ||
    signature === undefined ||
    'items' in signature ||
    signature.bare.kind !== 'bytes'
  ) {
    return rejected('malformed_credential', 'signature-input must hold a list, and signature its bytes');
  }
  const received = signature.bare.value;
  const incomplete = rejectIncompleteCoverage(input, delivery);
  if (incomplete !== undefined) return incomplete;
  const created = secondsParameter(input, 'created');
  if (created === undefined)
    return rejected('missing_timestamp', 'the signature does not say when it was created');
  const expires = secondsParameter(input, 'expires');
  if (expires === undefined && input.params.has('expires')) {
    return rejected('malformed_timestamp', 'expires is not a whole number of seconds');
  }
  const digest = soleHeader(delivery, 'content-digest');
  if (!digest.ok) return digest;
  const base = signatureBase(input, (name) => componentOf(delivery, name));
  if (base === undefined) {
    return rejected(
      'malformed_credential',
      'the signature covers a component that the request does not have',
    );
  }
  const keyid = stringParameter(input, 'keyid');
  const alg = stringParameter(input, 'alg');
  const matches = keys.map(
    (key) =>
      (key.id === undefined || key.id === keyid) &&
      (!input.params.has('alg') || alg === algorithmOf(key)) &&
      signatureMatches(key, base, received),
  );
  const key = matches.indexOf(true);
  if (key === -1)
    return rejected('wrong_credential', 'the signature does not match, or its keyid or alg is another');
  if (!digestMatches(digest.value, delivery.body)) {
    return rejected('wrong_credential', 'content-digest is not the digest of the body');
  }
  const nonce = stringParameter(input, 'nonce');
  return { ok: true, key, timestamp: created, expires, nonce };
}

/** Rejects a signature that does not cover enough: what it does not cover could be changed without notice. */
function rejectIncompleteCoverage(input: SignatureInput, delivery: Delivery): Rejected | undefined {
  const names = coveredComponents(input);
  if (names === undefined) {
    return rejected(
      'malformed_credential',
      'the signature covers a component twice, or with unknown parameters',
    );
  }
  const target =
    names.has('@target-uri') ||
    (names.has('@authority') &&
      (names.has('@request-target') ||
        (names.has('@path') && (names.has('@query') || !delivery.path.includes('?')))));
  const missing = [
    ...['@method', 'content-digest'].filter((name) => !names.has(name)),
    ...(target ? [] : ['@target-uri']),
  ];
  return missing.length === 0
    ? undefined
    : rejected('malformed_credential', `the signature does not cover ${missing.join(' and ')}`);
}

/** A parameter in whole seconds, as milliseconds. */
function secondsParameter(input: SignatureInput, name: string): number | undefined {
  const parameter = input.params.get(name);
  return parameter?.kind === 'integer' ? parameter.value * 1000 : undefined;
}

function stringParameter(input: SignatureInput, name: string): string | undefined {
  const parameter = input.params.get(name);
  return parameter?.kind === 'string' ? parameter.value : undefined;
}
