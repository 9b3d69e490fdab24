/** Writes vectors.json: `node test/conformance/record.ts` (node 24 or later). Keys of pairs are made anew each time. */
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { asymmetricKey } from '../../src/webhook/crypto/read-key.ts';
import type { Delivery } from '../../src/webhook/delivery.ts';
import { type Preset, presets } from '../../src/webhook/vendor-presets.ts';
import type { SchemeOptions } from '../../src/webhook/scheme-options.ts';
import { Secret } from '../../src/secret.ts';
import { delivered, type Headers, outgoing, sampleBody } from '../webhook/delivery.ts';
import { type Case, cases, keyOf } from '../webhook/schemes/every.ts';
import { verify } from '../webhook/verify.ts';
import type { Vector, VectorFile } from './vector.ts';

const signedAt = Date.UTC(2026, 0, 15, 12);

/** How a scheme signs, as data; the defaults are written out. */
function recipeOf(one: Case): Readonly<Record<string, unknown>> {
  const { name } = one.scheme;
  const { scheme: _scheme, ...options } = JSON.parse(one.flags[1] ?? '{}') as SchemeOptions & {
    scheme: string;
  };
  const toleranceSeconds = one.scheme.toleranceMs === undefined ? null : one.scheme.toleranceMs / 1000;
  if (name === 'token')
    return { kind: 'token', tokenHeader: one.scheme.credentialHeaders[0], toleranceSeconds };
  const { signedContent, toleranceMs: _ms, ...given } = options;
  const { timestampPrefix } = given;
  const isTimed = (options.timestampHeader ?? timestampPrefix) !== undefined;
  const own: Preset = {
    ...given,
    name,
    content: signedContent ?? (isTimed ? '{timestamp}.{body}' : '{body}'),
    separator: options.separator ?? (timestampPrefix === undefined ? undefined : ','),
    signatureHeader: options.signatureHeader?.toLowerCase() ?? '',
    timestampHeader: options.timestampHeader?.toLowerCase(),
    nonceHeader: options.nonceHeader?.toLowerCase(),
  };
  const preset = presets.find((known) => known.name === name) ?? own;
  const { name: _name, toleranceMs: _tolerance, noncePattern, ...chosen } = preset;
  return {
    kind: 'template',
    algorithm: 'hmac-sha256',
    encoding: 'hex',
    prefix: '',
    secretEncoding: 'utf8',
    timestampFormat: 'unix',
    ...chosen,
    ...(noncePattern === undefined ? {} : { noncePattern: noncePattern.source }),
    toleranceSeconds,
  };
}

/** The public half of a private key; a shared secret as it is. */
function receiversKey(secret: string): string {
  if (secret.startsWith('-----BEGIN ')) {
    return createPublicKey(createPrivateKey(secret)).export({ type: 'spki', format: 'pem' }).toString();
  }
  if (!secret.startsWith('whsk_')) return secret;
  const { material } = asymmetricKey(new Secret(secret), 'ed25519');
  const raw = Buffer.from(createPublicKey(material).export({ format: 'jwk' }).x ?? '', 'base64url');
  return `whpk_${raw.toString('base64')}`;
}

const algorithmOf = (one: Case): string => {
  if (one.name.endsWith('v1a') || one.name.endsWith('ed25519')) return 'ed25519';
  const { algorithm } = recipeOf(one);
  return typeof algorithm === 'string' ? algorithm : 'none';
};

interface Change {
  readonly what: string;
  readonly delivery: Delivery;
  readonly keys?: readonly string[];
  readonly now?: number;
}

/** A genuine delivery, and what can be done to it. */
function* changesOf(one: Case): Generator<Change> {
  const headers = one.scheme.sign(outgoing(), keyOf(one.scheme, one.secret), signedAt);
  const genuine = delivered(headers);
  const withHeaders = (changed: Headers): Delivery => delivered(changed);
  const [own, other] = [receiversKey(one.secret), receiversKey(one.other)];
  yield { what: 'genuine', delivery: genuine };
  yield { what: 'a second key matches', delivery: genuine, keys: [other, own] };
  yield {
    what: 'names of headers in capitals',
    delivery: withHeaders(headers.map(([name, value]) => [name.toUpperCase(), value])),
  };
  yield { what: 'another key', delivery: genuine, keys: [other] };
  const binary = Buffer.from([0xff, 0xfe, 0x00, 0x80, 0x0d, 0x0a]);
  const message = outgoing(binary);
  yield {
    what: 'a body that is not text',
    delivery: delivered(one.scheme.sign(message, keyOf(one.scheme, one.secret), signedAt), message),
  };
  for (const [what, body] of [
    ['another lead', Buffer.from(sampleBody.toString().replace('lead_1', 'lead_2'))],
    ['a line break after the body', Buffer.concat([sampleBody, Buffer.from('\n')])],
    ['a byte order mark before the body', Buffer.concat([Buffer.from('\ufeff'), sampleBody])],
    ['no body', Buffer.alloc(0)],
  ] as const) {
    yield { what, delivery: { ...genuine, body } };
  }
  for (const [i, [name, value]] of headers.entries()) {
    const replaced = (text: string): Delivery => withHeaders(headers.with(i, [name, text]));
    yield { what: `${name} missing`, delivery: withHeaders(headers.toSpliced(i, 1)) };
    yield { what: `${name} empty`, delivery: replaced('') };
    yield { what: `${name} twice`, delivery: withHeaders([...headers, [name, value]]) };
    yield { what: `${name} twice, joined by a comma`, delivery: replaced(`${value}, ${value}`) };
    yield { what: `${name} cut`, delivery: replaced(value.slice(0, -1)) };
    yield { what: `${name} longer`, delivery: replaced(`${value}0`) };
    const at = Math.floor(value.length * 0.75);
    const flipped = value[at] === '1' ? '2' : '1';
    yield {
      what: `${name} with one character changed`,
      delivery: replaced(value.slice(0, at) + flipped + value.slice(at + 1)),
    };
  }
  const { toleranceMs } = one.scheme;
  if (toleranceMs !== undefined) {
    for (const [what, ms] of [
      ['as old as is tolerated', toleranceMs],
      ['too old', toleranceMs + 1000],
      ['as far ahead as is tolerated', -toleranceMs],
      ['too far ahead', -toleranceMs - 1000],
    ] as const) {
      yield { what, delivery: genuine, now: signedAt + ms };
    }
  }
  if (one.scheme.signsUrl) {
    yield {
      what: 'another query',
      delivery: { ...genuine, path: '/leads?source=z', url: 'https://hooks.example.com/leads?source=z' },
    };
  }
}

function vectorOf(
  one: Case,
  { what, delivery, keys = [receiversKey(one.secret)], now = signedAt }: Change,
): Vector {
  const verification = verify(
    delivery,
    one.scheme,
    keys.map((key) => keyOf(one.scheme, key)),
    now,
  );
  return {
    id: `${one.name}: ${what}`,
    scheme: one.name,
    algorithm: algorithmOf(one),
    keys,
    now: now / 1000,
    request: {
      method: delivery.method,
      url: delivery.url,
      headers: delivery.rawHeaders,
      body: Buffer.from(delivery.body).toString('base64'),
    },
    genuine: verification.ok,
    ...(verification.ok ? {} : { reason: verification.reason }),
  };
}

const file: VectorFile = {
  version: 1,
  schemes: Object.fromEntries(cases.map((one) => [one.name, recipeOf(one)])),
  vectors: cases.flatMap((one) => [...changesOf(one)].map((change) => vectorOf(one, change))),
};

/** One row a line, so that a change can be read. */
const rows = (lines: readonly string[]): string => lines.map((line) => `    ${line}`).join(',\n');
const schemes = Object.entries(file.schemes).map(
  ([name, recipe]) => `${JSON.stringify(name)}: ${JSON.stringify(recipe)}`,
);
const vectors = file.vectors.map((vector) => JSON.stringify(vector));
const text = `{\n  "version": 1,\n  "schemes": {\n${rows(schemes)}\n  },\n  "vectors": [\n${rows(vectors)}\n  ]\n}\n`;
writeFileSync(new URL('vectors.json', import.meta.url), text);
