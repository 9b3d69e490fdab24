import { createPrivateKey, createPublicKey, sign as signWith } from 'node:crypto';
import { readFileSync } from 'node:fs';
import '@shopify/shopify-api/adapters/web-api';
import { ApiVersion, shopifyApi } from '@shopify/shopify-api';
import { createSHA256HMAC } from '@shopify/shopify-api/runtime';
import { isValidSlackRequest } from '@slack/bolt/dist/receivers/verify-request.js';
import { WorkOS } from '@workos-inc/node';
import { verifyKey } from 'discord-interactions';
import Stripe from 'stripe';
import { Webhook as Svix } from 'svix';
import type { Delivery } from '../../src/webhook/delivery.ts';
import type { Headers } from '../webhook/delivery.ts';

/** A vendor's own library. Those that verify look at the clock. */
export interface VendorLibrary {
  readonly package: string;
  readonly secret: string;
  /** What a receiver verifies with, where that is not the secret. */
  readonly publicKey?: string;
  /** With a secret or public key other than its own, if one is given. */
  readonly accepts: (delivery: Delivery, key?: string) => Promise<boolean>;
  /** What the library signs itself, or, where it only verifies, what its page says. */
  readonly signed: (body: string, seconds: number) => Headers | Promise<Headers>;
}

const secret = 'a secret of the vendor';
const whsec = `whsec_${Buffer.from('a secret of twenty-four.').toString('base64')}`;

/** Always the same, so that what it signs is. */
const ed25519Seed = Buffer.concat([
  Buffer.from('302e020100300506032b657004220420', 'hex'),
  Buffer.alloc(32, 7),
]);
const privateKey = createPrivateKey({ key: ed25519Seed, format: 'der', type: 'pkcs8' });
const publicKey = Buffer.from(createPublicKey(privateKey).export({ format: 'jwk' }).x ?? '', 'base64url');

/** Sent beside the signature by Shopify, and asked for by its library. */
const ofShopify: Headers = [
  ['X-Shopify-Topic', 'leads/create'],
  ['X-Shopify-Shop-Domain', 'example.myshopify.com'],
  ['X-Shopify-API-Version', '2026-01'],
  ['X-Shopify-Webhook-Id', '1'],
];
const shopifyWith = (apiSecretKey: string) =>
  shopifyApi({
    apiKey: 'key',
    apiSecretKey,
    hostName: 'hooks.example.com',
    apiVersion: ApiVersion.Unstable,
    isEmbeddedApp: false,
    logger: { log: () => undefined },
  });
const workos = new WorkOS('sk_test').webhooks;

const textOf = ({ body }: Delivery): string => Buffer.from(body).toString('utf8');
const valueIn = ({ rawHeaders }: Delivery, name: string): string =>
  rawHeaders.find(([header]) => header.toLowerCase() === name)?.[1] ?? '';
const parsed = (text: string): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>;

/** Whether `verify` neither throws nor rejects. */
const passes = async (verify: () => unknown): Promise<boolean> => {
  try {
    await verify();
    return true;
  } catch {
    return false;
  }
};

/** By the name of the scheme. */
export const vendorLibraries: Readonly<Record<string, VendorLibrary>> = {
  stripe: {
    package: 'stripe',
    secret,
    accepts: (delivery, key = secret) =>
      passes(() =>
        Stripe.webhooks.constructEvent(textOf(delivery), valueIn(delivery, 'stripe-signature'), key),
      ),
    signed: (payload, timestamp) => [
      ['Stripe-Signature', Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp })],
    ],
  },
  svix: {
    package: 'svix',
    secret: whsec,
    accepts: (delivery, key = whsec) =>
      passes(() => new Svix(key).verify(textOf(delivery), Object.fromEntries(delivery.rawHeaders))),
    signed: (body, seconds) => [
      ['svix-id', 'msg_1'],
      ['svix-timestamp', String(seconds)],
      ['svix-signature', new Svix(whsec).sign('msg_1', new Date(seconds * 1000), body)],
    ],
  },
  slack: {
    package: '@slack/bolt',
    secret,
    accepts: (delivery, key = secret) =>
      Promise.resolve(
        isValidSlackRequest({
          signingSecret: key,
          body: textOf(delivery),
          headers: {
            'x-slack-signature': valueIn(delivery, 'x-slack-signature'),
            'x-slack-request-timestamp': Number(valueIn(delivery, 'x-slack-request-timestamp')),
          },
        }),
      ),
    signed: async (body, seconds) => [
      ['X-Slack-Request-Timestamp', String(seconds)],
      [
        'X-Slack-Signature',
        `v0=${Buffer.from(await createSHA256HMAC(secret, `v0:${seconds}:${body}`), 'base64').toString('hex')}`,
      ],
    ],
  },
  shopify: {
    package: '@shopify/shopify-api',
    secret,
    accepts: async (delivery, key = secret) => {
      const shopify = shopifyWith(key);
      const headers = [...delivery.rawHeaders, ...ofShopify].map(
        ([name, value]) => [name, value] as [string, string],
      );
      const rawRequest = new Request(delivery.url, { method: 'POST', headers });
      return (await shopify.webhooks.validate({ rawBody: textOf(delivery), rawRequest })).valid;
    },
    signed: async (body) => [['X-Shopify-Hmac-Sha256', await createSHA256HMAC(secret, body)]],
  },
  workos: {
    package: '@workos-inc/node',
    secret,
    accepts: async (delivery, key = secret) => {
      const sigHeader = valueIn(delivery, 'workos-signature');
      const payload = parsed(textOf(delivery));
      return workos.verifyHeader({ payload, sigHeader, secret: key }).catch(() => false);
    },
    signed: async (body, seconds) => {
      const v1 = await workos.computeSignature(`${seconds}000`, parsed(body), secret);
      return [['WorkOS-Signature', `t=${seconds}000, v1=${v1}`]];
    },
  },
  discord: {
    package: 'discord-interactions',
    secret: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKey: publicKey.toString('hex'),
    accepts: (delivery, key = publicKey.toString('hex')) =>
      verifyKey(
        Buffer.from(delivery.body),
        valueIn(delivery, 'x-signature-ed25519'),
        valueIn(delivery, 'x-signature-timestamp'),
        key,
      ),
    signed: (body, seconds) => [
      ['X-Signature-Ed25519', signWith(null, Buffer.from(`${seconds}${body}`), privateKey).toString('hex')],
      ['X-Signature-Timestamp', String(seconds)],
    ],
  },
};

const { dependencies } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')) as {
  dependencies: Record<string, string>;
};

export const released = (library: VendorLibrary): string =>
  `${library.package} ${dependencies[library.package] ?? ''}`;
