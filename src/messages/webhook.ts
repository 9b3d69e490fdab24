import type { WebhookProblem } from '../webhook/problems.ts';
import type { Algorithm } from '../webhook/scheme-options.ts';
import { type Message, type Messages, updateLeads } from './message.ts';

const keysOf: Readonly<Record<Algorithm, string>> = {
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

const encodingNames = {
  utf8: 'text',
  hex: 'hex',
  base64: 'base64',
  whsec: "base64 after 'whsec_'",
} as const;

const onlySentence = (message: string, hint: string) => (): Message => ({ message, hint: () => hint });

export const webhookMessages: Messages<WebhookProblem> = {
  'unknown-scheme': ({ name, known }) => ({
    message: `the webhook scheme '${name}' is unknown`,
    hint: () => `it must be one of ${known.join(', ')}`,
  }),
  'scheme-of-newer-version': ({ version }) => ({
    message: `the scheme is of version ${version}, and was made for a newer version of leads`,
    hint: () => updateLeads,
  }),
  'scheme-is-no-object': () => 'a scheme is a JSON object',
  'unknown-scheme-part': ({ part, known }) => ({
    message: `'${part}' is no part of a scheme`,
    hint: () =>
      /secret(?!encoding)|^token$/i.test(part)
        ? 'a secret is given by itself: it is no part of the scheme'
        : `the parts are ${known.join(', ')}`,
  }),
  'wrong-scheme-part': ({ part, expected }) => `the scheme's ${part} must be ${expected}`,
  'stray-scheme-part': ({ part, of, scheme }) =>
    `${part} belongs to the scheme ${of.join(' or ')}, and this one is '${scheme}'`,
  'scheme-signs-no-time': ({ scheme }) => `tolerance: the scheme '${scheme}' signs no time`,
  'not-a-header-name': ({ name }) => `'${name}' is not the name of a header`,
  'empty-secret': () => 'the webhook secret is empty',
  'secret-of-key-pair': () =>
    'the webhook secret is a key of a pair, and this scheme signs with a shared secret',
  'secret-not-encoded': ({ encoding }) => ({
    message: `the webhook secret is not ${encodingNames[encoding]}`,
    hint: () =>
      encoding === 'whsec' ? 'copy the whole secret, from whsec_ to its end' : 'see secretEncoding',
  }),
  'empty-token': () => 'the webhook token is empty',
  'unsendable-token': onlySentence(
    'the webhook token has blanks at its ends or control characters in it',
    'a header cannot carry it; check the file or variable that it comes from',
  ),
  'unreadable-key': onlySentence(
    'the key cannot be read',
    'it must be a PEM or JWK of an Ed25519, P-256 or RSA key',
  ),
  'unreadable-webhook-key': onlySentence(
    'the webhook key is not an Ed25519 key in base64',
    'copy the whole key, from whpk_ or whsk_ to its end',
  ),
  'key-halves-differ': () => 'the two halves of the private key do not belong together',
  'key-for-another-algorithm': ({ algorithm, type, bits }) => {
    const key = bits === undefined ? `of type '${type}'` : `an RSA key of ${bits} bits`;
    return {
      message: `the key is ${key}, and ${algorithm} needs another`,
      hint: () => `give ${keysOf[algorithm]}`,
    };
  },
  'key-not-of-algorithm': ({ algorithm }) => `the key does not belong to the algorithm ${algorithm}`,
  'public-key-cannot-sign': onlySentence('a public key verifies but cannot sign', 'use the private key'),
  'body-not-signed': ({ content }) =>
    `the signed content '${content}' does not cover {body}: anybody could change the lead`,
  'unknown-slot': ({ slot, known }) => ({
    message: `the signed content names ${slot}, which is unknown`,
    hint: () => `it may hold ${known.map((name) => `{${name}}`).join(' ')}`,
  }),
  'two-time-sources': () => ({
    message: 'the signed time has two sources, a header of its own and the one of the signature',
    hint: () => 'give timestampHeader or timestampPrefix',
  }),
  'signed-not-sent': ({ part }) => ({
    message: `the signed content holds {${part}}, but no header is named that carries it`,
    hint: () => `name it with ${part}Header`,
  }),
  'sent-not-signed': ({ part }) => ({
    message: `the ${part} is not part of the signed content, so it proves nothing`,
    hint: () => `add {${part}} to signedContent, or leave out ${part}Header`,
  }),
  'custom-without-header': () => ({
    message: "the scheme 'custom' needs the name of the header with the signature",
    hint: () => 'name it with signatureHeader',
  }),
  'headers-not-apart': ({ scheme }) => ({
    message: `${scheme === 'token' ? 'token' : 'signature'}, timestamp and nonce must come in headers of their own`,
    hint: () =>
      scheme === 'token' ? undefined : 'a time inside the signature header is named by timestampPrefix',
  }),
  'format-without-time': onlySentence(
    'timestampFormat has no effect without timestampHeader: no time is checked',
    'name the header with timestampHeader, or leave out timestampFormat',
  ),
  'prefixes-overlap': () => ({
    message: 'the time and the signature in one header need prefixes that differ',
    hint: () => 'such as t= and v1=',
  }),
};
