import type { Algorithm, SecretEncoding } from '../scheme-options.ts';
import { configError } from '../problems.ts';
import type { Secret } from '../../secret.ts';
import { namesItsKind, type ReadKey, readKey } from '../crypto/asymmetric-key.ts';
import { pairSignatures } from '../crypto/pair-signature.ts';
import { publicDer, takesKey, kindOf, verifier, symmetricKey } from '../crypto/signature.ts';
import { type Delivery, soleHeader } from '../delivery.ts';
import type { Key, Verification } from '../scheme.ts';
import { rejected, type Rejected } from '../delivery-answer.ts';
import { componentOf, digestMatches, signatureBase, type SignatureInput } from './signature-base.ts';
import { type Member, parseDictionary } from './structured-fields.ts';

/** The signature of the sender, and at most a few by proxies. */
const maxLabels = 4;

/** Each is looked up in the request before anybody knows whose signature it is. */
const maxComponents = 64;

type Check = (input: SignatureInput, hasQuery: boolean) => Rejected | undefined;

/** Whether one of the signatures of a request is made with one of the keys and covers enough (RFC 9421, section 3.2). */
export function authenticateMessage(
  delivery: Delivery,
  keys: readonly Key[],
  rejectCoverage: Check,
): Verification {
  const labelled = labelledSignatures(delivery);
  if ('ok' in labelled) return labelled;
  const results = labelled.map(({ input, signature }) =>
    authenticateOne(delivery, keys, rejectCoverage, input, signature),
  );
  return (
    results.find((verification) => verification.ok) ??
    results[0] ??
    rejected('malformed_credential', 'signature-input and signature do not name the same signatures')
  );
}

/** One signature of a request under its label. */
interface LabelledSignature {
  readonly label: string;
  readonly input: Member | undefined;
  readonly signature: Member | undefined;
}

/** The signatures that both headers name. */
export function labelledSignatures(delivery: Delivery): readonly LabelledSignature[] | Rejected {
  const inputs = dictionaryHeader(delivery, 'signature-input');
  if ('ok' in inputs) return inputs;
  const signatures = dictionaryHeader(delivery, 'signature');
  if ('ok' in signatures) return signatures;
  if (Math.max(inputs.size, signatures.size) > maxLabels) {
    return rejected('malformed_credential', 'the delivery holds too many signatures');
  }
  return [...inputs.keys()]
    .filter((label) => signatures.has(label))
    .map((label) => ({ label, input: inputs.get(label), signature: signatures.get(label) }));
}

function dictionaryHeader(delivery: Delivery, name: string): ReadonlyMap<string, Member> | Rejected {
  const found = soleHeader(delivery, name);
  if (!found.ok) return found;
  return (
    parseDictionary(found.value) ??
    rejected('malformed_credential', `the header ${name} is not a dictionary (RFC 8941)`)
  );
}

function authenticateOne(
  delivery: Delivery,
  keys: readonly Key[],
  rejectCoverage: Check,
  input: Member | undefined,
  signature: Member | undefined,
): Verification {
  if (input === undefined || !('items' in input)) {
    return rejected('malformed_credential', 'signature-input must hold a list of components');
  }
  if (input.items.length > maxComponents) {
    return rejected('malformed_credential', `the signature covers more than ${maxComponents} components`);
  }
  if (signature === undefined || 'items' in signature || signature.bare.kind !== 'bytes') {
    return rejected('malformed_credential', 'signature must hold the bytes of a signature');
  }
  const incomplete = rejectCoverage(input, delivery.path.includes('?'));
  if (incomplete !== undefined) return incomplete;
  const created = secondsParameter(input, 'created');
  if (created === undefined) {
    return rejected('missing_timestamp', 'the signature does not say when it was created');
  }
  const expires = secondsParameter(input, 'expires');
  if (expires === undefined && input.params.has('expires')) {
    return rejected('malformed_timestamp', 'expires is not a whole number of seconds');
  }
  const digest = soleHeader(delivery, 'content-digest');
  if (!digest.ok) return digest;
  const base = signatureBase(input, (component) => componentOf(delivery, component));
  if (base === undefined) {
    return rejected(
      'malformed_credential',
      'the signature covers a component that the request does not have, or with parameters that are not known',
    );
  }
  const key = keyOf(input, keys, base, signature.bare.value);
  if (key === -1) {
    return rejected('wrong_credential', 'the signature does not match, or its keyid or alg is another');
  }
  if (!digestMatches(digest.value, delivery.body)) {
    return rejected('wrong_credential', 'content-digest is not the digest of the body');
  }
  return { ok: true, key, timestamp: created, expires, nonce: stringParameter(input, 'nonce') };
}

/** Index of the first key that made the signature, or -1. A key with an id is used for that `keyid` only. */
function keyOf(input: SignatureInput, keys: readonly Key[], base: Buffer, signature: Uint8Array): number {
  const keyid = stringParameter(input, 'keyid');
  const alg = stringParameter(input, 'alg');
  const isAllowed = (algorithm: string): boolean => !input.params.has('alg') || algorithm === alg;
  return keys
    .map(
      (key) =>
        (key.id === undefined || key.id === keyid) &&
        algorithmsOf(key)
          .filter(isAllowed)
          .map((algorithm) => verifier(algorithm, key, [base])(signature))
          .includes(true),
    )
    .indexOf(true);
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

/** Names of RFC 9421, section 3.3; of two for one kind of key, the first is used to sign. */
const messageAlgorithms = [
  'hmac-sha256',
  'ed25519',
  'ecdsa-p256-sha256',
  'rsa-pss-sha512',
  'rsa-v1_5-sha256',
] as const satisfies readonly Algorithm[];

export type MessageAlgorithm = (typeof messageAlgorithms)[number];

export interface MessageKey extends Key {
  readonly algorithms: readonly MessageAlgorithm[];
}

/** What a JWK's `alg` says of an RSA key (RFC 7518, section 3.1). */
const rsaAlgorithms: Readonly<Record<string, MessageAlgorithm>> = {
  PS512: 'rsa-pss-sha512',
  RS256: 'rsa-v1_5-sha256',
};

/**
 * Reads a PEM or JWK of an Ed25519, P-256 or RSA key, a public one in DER, a JWK of a shared secret, or the shared secret
 * itself. Throws a `ConfigError`, also for text that looks like a key and is damaged: it must not be taken for a shared secret.
 */
export function parseMessageKey(secret: Secret, encoding: SecretEncoding): MessageKey {
  const der = publicDer(secret);
  if (!namesItsKind(secret) && der === undefined) {
    return { ...symmetricKey(secret, encoding), algorithms: ['hmac-sha256'] };
  }
  const { material, id, alg }: ReadKey = der ? { material: der } : readKey(secret.reveal());
  const kind = kindOf(material);
  const algorithms = messageAlgorithms
    .filter((algorithm) => takesKey(algorithm, kind))
    .filter((algorithm) => kind !== 'rsa' || alg === undefined || rsaAlgorithms[alg] === algorithm);
  if (algorithms.length === 0) {
    const { asymmetricKeyType, asymmetricKeyDetails } = material;
    const type = alg ?? asymmetricKeyDetails?.namedCurve ?? asymmetricKeyType ?? 'unknown';
    throw configError({ kind: 'unsupported-key', type });
  }
  return { secret, material, pair: pairSignatures, id, algorithms };
}

/**
 * The algorithms that a key may be used with. The key decides: a sender who could choose would use the public key as the
 * secret of an HMAC. Between the two of an RSA key, which are both safe with it, a signature's `alg` may choose.
 */
export const algorithmsOf = (key: Key): readonly MessageAlgorithm[] =>
  'algorithms' in key ? (key as MessageKey).algorithms : [];
