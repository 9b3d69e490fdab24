import { ConfigError } from '../errors.ts';
import type { Algorithm, SecretEncoding } from './scheme-options.ts';

type SignedPart = 'timestamp' | 'nonce';

export const unknownScheme = (name: string, schemes: readonly string[]) =>
  new ConfigError(`the webhook scheme '${name}' is unknown`, {
    hint: `it must be one of ${schemes.join(', ')}`,
  });

export const schemeIsNoObject = () => new ConfigError('a scheme is a JSON object');

export const unknownSchemePart = (part: string, parts: readonly string[]) =>
  new ConfigError(`'${part}' is no part of a scheme`, {
    hint: /secret(?!encoding)|^token$/i.test(part)
      ? 'a secret is given by itself: it is no part of the scheme'
      : `the parts are ${parts.join(', ')}`,
  });

export const wrongSchemePart = (part: string, expected: string) =>
  new ConfigError(`the scheme's ${part} must be ${expected}`);

export const straySchemePart = (part: string, owners: readonly string[], scheme: string) =>
  new ConfigError(`${part} belongs to the scheme ${owners.join(' or ')}, and this one is '${scheme}'`);

export const invalidHeaderName = (name: string) =>
  new ConfigError(`'${name}' is not the name of a header that can hold a credential`);

export const emptySecret = () => new ConfigError('the webhook secret is empty');

export const secretOfKeyPair = () =>
  new ConfigError('the webhook secret is a key of a pair, and this scheme signs with a shared secret');

const encodingNames = { utf8: 'text', hex: 'hex', base64: 'base64', whsec: "base64 after 'whsec_'" } as const;

export const secretNotEncoded = (encoding: SecretEncoding) =>
  new ConfigError(`the webhook secret is not ${encodingNames[encoding]}`, {
    hint: encoding === 'whsec' ? 'copy the whole secret, from whsec_ to its end' : 'see secretEncoding',
  });

export const emptyToken = () => new ConfigError('the webhook token is empty');

export const unsendableToken = () =>
  new ConfigError('the webhook token has blanks at its ends or control characters in it', {
    hint: 'a header cannot carry it; check the file or variable that it comes from',
  });

/** The message of the parser's error may quote the key, so `cause` is its name alone. */
export const unreadableKey = (cause: string | undefined) =>
  new ConfigError('the key cannot be read', {
    hint: 'it must be a PEM or JWK of an Ed25519, P-256 or RSA key',
    cause,
  });

export const unreadableWebhookKey = () =>
  new ConfigError('the webhook key is not an Ed25519 key in base64', {
    hint: 'copy the whole key, from whpk_ or whsk_ to its end',
  });

export const keyHalvesDiffer = () =>
  new ConfigError('the two halves of the private key do not belong together');

const algorithmKeys: Readonly<Record<Algorithm, string>> = {
  'hmac-sha1': 'a shared secret',
  'hmac-sha256': 'a shared secret',
  'hmac-sha384': 'a shared secret',
  'hmac-sha512': 'a shared secret',
  ed25519: 'an Ed25519 key',
  'ecdsa-p256-sha256': 'a P-256 key',
  'ecdsa-p256-sha256-der': 'a P-256 key',
  'rsa-pss-sha512': 'an RSA key of at least 2048 bits',
  'rsa-v1_5-sha256': 'an RSA key of at least 2048 bits',
};

export const keyForAnotherAlgorithm = (algorithm: Algorithm, type: string, bits?: number) =>
  new ConfigError(
    `the key is ${bits === undefined ? `of type '${type}'` : `an RSA key of ${bits} bits`}, and ${algorithm} needs another`,
    { hint: `give ${algorithmKeys[algorithm]}` },
  );

export const keyNotOfAlgorithm = (algorithm: Algorithm) =>
  new ConfigError(`the key does not belong to the algorithm ${algorithm}`);

export const publicKeyCannotSign = () =>
  new ConfigError('a public key verifies but cannot sign', { hint: 'use the private key' });

export const bodyNotSigned = (content: string) =>
  new ConfigError(`the signed content '${content}' does not cover {body}: anybody could change the lead`);

export const unknownSlot = (slot: string, slots: readonly string[]) =>
  new ConfigError(`the signed content names ${slot}, which is unknown`, {
    hint: `it may hold ${slots.map((name) => `{${name}}`).join(' ')}`,
  });

export const twoTimeSources = () =>
  new ConfigError('the signed time has two sources, a header of its own and the one of the signature', {
    hint: 'give timestampHeader or timestampPrefix',
  });

export const signedNotSent = (part: SignedPart) =>
  new ConfigError(`the signed content holds {${part}}, but no header is named that carries it`, {
    hint: `name it with ${part}Header`,
  });

export const sentNotSigned = (part: SignedPart) =>
  new ConfigError(`the ${part} is not part of the signed content, so it proves nothing`, {
    hint: `add {${part}} to signedContent, or leave out ${part}Header`,
  });

export const customWithoutHeader = () =>
  new ConfigError("the scheme 'custom' needs the name of the header with the signature", {
    hint: 'name it with signatureHeader',
  });

export const headersNotApart = (scheme: 'custom' | 'token') =>
  new ConfigError(
    `${scheme === 'token' ? 'token' : 'signature'}, timestamp and nonce must come in headers of their own`,
    {
      hint: scheme === 'token' ? undefined : 'a time inside the signature header is named by timestampPrefix',
    },
  );

export const formatWithoutTime = () =>
  new ConfigError('timestampFormat has no effect without timestampHeader: no time is checked', {
    hint: 'name the header with timestampHeader, or leave out timestampFormat',
  });

export const prefixesOverlap = () =>
  new ConfigError('the time and the signature in one header need prefixes that differ', {
    hint: 'such as t= and v1=',
  });
