import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { expect, test } from 'vitest';
import { presets } from '../../../src/webhook/vendor-presets.ts';
import { schemeNamed } from '../../../src/webhook/scheme-registry.ts';
import { verify } from '../verify.ts';
import { delivered, type Headers, outgoing } from '../delivery.ts';
import { keyOf } from '../schemes/every.ts';

const now = Date.UTC(2026, 0, 15, 12);
const seconds = String(now / 1000);
const iso = '2026-01-15T12:00:00Z';
const body = '{"id":"lead_1","contact":{"name":"Zoë"}}';
const secret = 'a secret of the vendor';
const url = 'https://hooks.example.com/leads?to=a%40b.example&x=%2526';

const mac = (content: string, hash = 'sha256') => createHmac(hash, secret).update(content);
const hex = (content: string, hash?: string) => mac(content, hash).digest('hex');
const base64 = (content: string) => mac(content).digest('base64');

const discord = generateKeyPairSync('ed25519');
const rawPublic = Buffer.from(discord.publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');

/** What each vendor's page says, computed with node's own functions: these vendors publish no example that verifies. */
const vendors: Readonly<Record<string, { headers: Headers; secret?: string }>> = {
  calendly: { headers: [['Calendly-Webhook-Signature', `t=${seconds},v1=${hex(`${seconds}.${body}`)}`]] },
  mux: { headers: [['Mux-Signature', `t=${seconds},v1=${hex(`${seconds}.${body}`)}`]] },
  workos: { headers: [['WorkOS-Signature', `t=${now}, v1=${hex(`${now}.${body}`)}`]] },
  discord: {
    secret: rawPublic.toString('hex'),
    headers: [
      ['X-Signature-Ed25519', sign(null, Buffer.from(seconds + body), discord.privateKey).toString('hex')],
      ['X-Signature-Timestamp', seconds],
    ],
  },
  hubspot: {
    headers: [
      [
        'X-HubSpot-Signature-v3',
        base64(`POSThttps://hooks.example.com/leads?to=a@b.example&x=%2526${body}${now}`),
      ],
      ['X-HubSpot-Request-Timestamp', String(now)],
    ],
  },
  typeform: { headers: [['Typeform-Signature', `sha256=${base64(body)}`]] },
  zendesk: {
    headers: [
      ['X-Zendesk-Webhook-Signature', base64(iso + body)],
      ['X-Zendesk-Webhook-Signature-Timestamp', iso],
    ],
  },
  twitch: {
    headers: [
      ['Twitch-Eventsub-Message-Id', 'befa7b53'],
      ['Twitch-Eventsub-Message-Timestamp', '2026-01-15T11:51:00.123456789Z'],
      ['Twitch-Eventsub-Message-Signature', `sha256=${hex(`befa7b532026-01-15T11:51:00.123456789Z${body}`)}`],
    ],
  },
  meta: {
    headers: [
      ['X-Hub-Signature-256', `sha256=${hex(body)}`],
      ['X-Hub-Signature', `sha1=${hex(body, 'sha1')}`],
    ],
  },
  linear: { headers: [['Linear-Signature', hex(body)]] },
  intercom: { headers: [['X-Hub-Signature', `sha1=${hex(body, 'sha1')}`]] },
  shopify: { headers: [['X-Shopify-Hmac-Sha256', base64(body)]] },
};

test.each(Object.entries(vendors))(
  '%s: a delivery signed as its page says (computed with node:crypto) is accepted, a changed one is not',
  (name, vendor) => {
    const scheme = schemeNamed(name);
    const keys = [keyOf(scheme, vendor.secret ?? secret)];
    const message = { ...outgoing(Buffer.from(body)), url };
    const arrived = delivered(vendor.headers, message);
    expect(verify(arrived, scheme, keys, now)).toMatchObject({ ok: true, key: 0 });
    const altered = { ...arrived, body: Buffer.from(body.replace('lead_1', 'lead_2')) };
    expect(verify(altered, scheme, keys, now)).toMatchObject({ reason: 'wrong_credential' });
    for (const [i, [header, value]] of vendor.headers.entries()) {
      for (const at of Buffer.from(value).keys()) {
        const changed = value.slice(0, at) + (value[at] === '1' ? '2' : '1') + value.slice(at + 1);
        const headers = vendor.headers.with(i, [header, changed]);
        const isRead = header !== 'X-Hub-Signature' || name === 'intercom';
        expect(verify(delivered(headers, message), scheme, keys, now).ok, `${header}: ${changed}`).toBe(
          !isRead,
        );
      }
    }
  },
);

test("a brand is a name of Standard Webhooks' headers, and of no other scheme's", () => {
  expect(schemeNamed('github', { headerPrefix: 'acme' }).credentialHeaders).toEqual(['x-hub-signature-256']);
});

test('every preset has a published example, a library of its vendor, or an independent computation', () => {
  const elsewhere = [
    'standard-webhooks',
    'svix',
    'stripe',
    'github',
    'slack',
    'paddle',
    'square',
    'sendgrid',
  ];
  expect([...Object.keys(vendors), ...elsewhere].sort()).toEqual(presets.map(({ name }) => name).sort());
});

test("Stripe's own test: at least one valid signature among others that cannot be read", () => {
  const scheme = schemeNamed('stripe');
  const good = hex(`${seconds}.${body}`);
  const take = (value: string) =>
    verify(
      delivered([['Stripe-Signature', value]], outgoing(Buffer.from(body))),
      scheme,
      [keyOf(scheme, secret)],
      now,
    );
  for (const list of [`v1=${good},v1=potato`, `v1=potato,v1=${good}`, `v0=1,v1=,v1=${good},v1,junk,=,v2=x`]) {
    expect(take(`t=${seconds},${list}`), list).toMatchObject({ ok: true });
  }
  expect(take(`t=${seconds},v1=potato`)).toMatchObject({ reason: 'malformed_credential' });
  expect(take(`t=${seconds},v1=${good.replace(/^./, 'g')}`)).toMatchObject({
    reason: 'malformed_credential',
  });
  expect(take(`t=${seconds}`)).toMatchObject({ reason: 'malformed_credential' });
  expect(take(`v1=${good}`)).toMatchObject({ reason: 'missing_timestamp' });
  expect(take(`t=${seconds},t=${seconds},v1=${good}`)).toMatchObject({ reason: 'repeated_credential' });
  expect(take(`t=,v1=${good}`)).toMatchObject({ reason: 'malformed_timestamp' });
});

test('Paddle: several signatures are tried, during a rotation of secrets', () => {
  const scheme = schemeNamed('paddle');
  const [old, fresh] = [hex(`${seconds}:${body}`), 'f'.repeat(64)];
  const arrived = delivered(
    [['Paddle-Signature', `ts=${seconds};h1=${fresh};h1=${old};h2=RANDOM_HASH`]],
    outgoing(Buffer.from(body)),
  );
  expect(verify(arrived, scheme, [keyOf(scheme, secret)], now)).toMatchObject({ ok: true });
});
