import { generateKeyPairSync, sign as signWith } from 'node:crypto';
import '@shopify/shopify-api/adapters/web-api';
import { ApiVersion, shopifyApi } from '@shopify/shopify-api';
import { createSHA256HMAC } from '@shopify/shopify-api/runtime';
import { isValidSlackRequest } from '@slack/bolt/dist/receivers/verify-request.js';
import { WorkOS } from '@workos-inc/node';
import { verifyKey } from 'discord-interactions';
import { expect, test } from 'vitest';
import type { Delivery } from '../../../src/webhook/delivery.ts';
import { schemeNamed } from '../../../src/webhook/scheme-registry.ts';
import { delivered, type Headers, outgoing } from '../delivery.ts';
import { keyOf } from '../schemes/every.ts';

const body = '{"id":"lead_1","contact":{"name":"Zoë \u202e\ufeff"}}';
const secret = 'a secret of the vendor';
const pair = generateKeyPairSync('ed25519');
const privateKey = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const publicKey = Buffer.from(pair.publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('hex');
const seconds = Math.floor(Date.now() / 1000);

/** Sent beside the signature by Shopify, and asked for by its library. */
const ofShopify: Headers = [
  ['X-Shopify-Topic', 'leads/create'],
  ['X-Shopify-Shop-Domain', 'example.myshopify.com'],
  ['X-Shopify-API-Version', '2026-01'],
  ['X-Shopify-Webhook-Id', '1'],
];

const shopify = shopifyApi({
  apiKey: 'key',
  apiSecretKey: secret,
  hostName: 'hooks.example.com',
  apiVersion: ApiVersion.Unstable,
  isEmbeddedApp: false,
  logger: { log: () => undefined },
});
const workos = new WorkOS('sk_test').webhooks;

interface Vendor {
  readonly signingSecret: string;
  readonly accepts: (delivery: Delivery) => Promise<boolean>;
  /** What the vendor's library signs itself, or, where it only verifies, what its page says. */
  readonly signed: () => Promise<Headers>;
}

const textOf = ({ body: bytes }: Delivery): string => Buffer.from(bytes).toString('utf8');
const valueIn = ({ rawHeaders }: Delivery, name: string): string => new Map(rawHeaders).get(name) ?? '';

const vendors: Readonly<Record<string, Vendor>> = {
  slack: {
    signingSecret: secret,
    accepts: (delivery) =>
      Promise.resolve(
        isValidSlackRequest({
          signingSecret: secret,
          body: textOf(delivery),
          headers: {
            'x-slack-signature': valueIn(delivery, 'x-slack-signature'),
            'x-slack-request-timestamp': Number(valueIn(delivery, 'x-slack-request-timestamp')),
          },
        }),
      ),
    signed: async () => [
      ['X-Slack-Request-Timestamp', String(seconds)],
      [
        'X-Slack-Signature',
        `v0=${Buffer.from(await createSHA256HMAC(secret, `v0:${seconds}:${body}`), 'base64').toString('hex')}`,
      ],
    ],
  },
  shopify: {
    signingSecret: secret,
    accepts: async (delivery) => {
      const headers = [...delivery.rawHeaders, ...ofShopify].map(
        ([name, value]) => [name, value] as [string, string],
      );
      const rawRequest = new Request(delivery.url, { method: 'POST', headers });
      return (await shopify.webhooks.validate({ rawBody: textOf(delivery), rawRequest })).valid;
    },
    signed: async () => [['X-Shopify-Hmac-Sha256', await createSHA256HMAC(secret, body)]],
  },
  workos: {
    signingSecret: secret,
    accepts: async (delivery) => {
      const payload = JSON.parse(textOf(delivery)) as Record<string, unknown>;
      const sigHeader = valueIn(delivery, 'workos-signature');
      return workos.verifyHeader({ payload, sigHeader, secret }).catch(() => false);
    },
    signed: async () => {
      const payload = JSON.parse(body) as Record<string, unknown>;
      const v1 = await workos.computeSignature(`${seconds}000`, payload, secret);
      return [['WorkOS-Signature', `t=${seconds}000, v1=${v1}`]];
    },
  },
  discord: {
    signingSecret: privateKey,
    accepts: (delivery) =>
      verifyKey(
        Buffer.from(delivery.body),
        valueIn(delivery, 'x-signature-ed25519'),
        valueIn(delivery, 'x-signature-timestamp'),
        publicKey,
      ),
    signed: () =>
      Promise.resolve([
        [
          'X-Signature-Ed25519',
          signWith(null, Buffer.from(`${seconds}${body}`), pair.privateKey).toString('hex'),
        ],
        ['X-Signature-Timestamp', String(seconds)],
      ]),
  },
};

/** With one character of one header, or one byte of the body, changed: in the time, in the signature, in the content. */
function* tampered(delivery: Delivery, credentials: readonly string[]): Generator<Delivery> {
  yield { ...delivery, body: Buffer.from(textOf(delivery).replace('lead_1', 'lead_2')) };
  for (const [i, [name, value]] of delivery.rawHeaders.entries()) {
    if (!credentials.includes(name)) continue;
    const at = Math.floor(value.length * 0.75);
    const other = value[at] === '1' ? '2' : '1';
    const changed = value.slice(0, at) + other + value.slice(at + 1);
    yield { ...delivery, rawHeaders: delivery.rawHeaders.with(i, [name, changed]) };
  }
}

test.each(Object.entries(vendors))(
  "%s: the vendor's own verifier accepts what is signed here, and nothing that was tampered with",
  async (name, { signingSecret, accepts }) => {
    const scheme = schemeNamed(name);
    const headers = scheme.sign(outgoing(Buffer.from(body)), keyOf(scheme, signingSecret), seconds * 1000);
    const sent = delivered(headers, outgoing(Buffer.from(body)));
    expect(await accepts(sent)).toBe(true);
    const names = headers.map(([header]) => header);
    for (const changed of tampered(sent, names)) expect(await accepts(changed)).toBe(false);
  },
);

test.each(Object.entries(vendors))(
  '%s: what the vendor signs is accepted here, and nothing that was tampered with',
  async (name, { signingSecret, signed }) => {
    const scheme = schemeNamed(name);
    const keys = [keyOf(scheme, name === 'discord' ? publicKey : signingSecret)];
    const headers = await signed();
    const arrived = delivered(headers, outgoing(Buffer.from(body)));
    expect(scheme.authenticate(arrived, keys)).toMatchObject({ ok: true, key: 0 });
    for (const changed of tampered(
      arrived,
      headers.map(([header]) => header),
    )) {
      expect(scheme.authenticate(changed, keys).ok).toBe(false);
    }
  },
);
