import { sign as octokit, verify as verifyByOctokit } from '@octokit/webhooks-methods';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { schemeNamed } from '../../../src/webhook/scheme-registry.ts';
import { verify } from '../verify.ts';
import { delivered, type Headers, outgoing } from '../delivery.ts';
import { keyOf } from '../schemes/every.ts';

const now = Date.UTC(2026, 0, 15, 12);
const seconds = now / 1000;
const whsec = `whsec_${Buffer.from('a secret of twenty-four.').toString('base64')}`;
const body = '{"id":"lead_1","contact":{"name":"Zoë \u202e\ufeff"}}';

/** Headers as the vendor's own library makes them. */
const vendors: Readonly<Record<string, { secret: string; sign: () => Headers | Promise<Headers> }>> = {
  'standard-webhooks': {
    secret: whsec,
    sign: () => [
      ['webhook-id', 'msg_1'],
      ['webhook-timestamp', String(seconds)],
      ['webhook-signature', new StandardWebhook(whsec).sign('msg_1', new Date(now), body)],
    ],
  },
  github: {
    secret: 'octo',
    sign: async () => [['X-Hub-Signature-256', await octokit('octo', body)]],
  },
};

test.each(Object.entries(vendors))(
  '%s: what the library of the vendor signs is accepted',
  async (name, { secret, sign }) => {
    const scheme = schemeNamed(name);
    const arrived = delivered(await sign(), outgoing(Buffer.from(body)));
    expect(verify(arrived, scheme, [keyOf(scheme, secret)], now)).toMatchObject({ ok: true });
    const altered = { ...arrived, body: Buffer.from(body.replace('lead_1', 'lead_2')) };
    expect(verify(altered, scheme, [keyOf(scheme, secret)], now)).toMatchObject({
      reason: 'wrong_credential',
    });
  },
);

test('the libraries of the vendors accept what is signed here, and refuse it when it was tampered with', async () => {
  const message = outgoing(Buffer.from(body));
  const signedBy = (name: string, secret: string) => {
    const scheme = schemeNamed(name);
    return Object.fromEntries(scheme.sign(message, keyOf(scheme, secret), Date.now()));
  };
  expect(new StandardWebhook(whsec).verify(body, signedBy('standard-webhooks', whsec))).toMatchObject({
    id: 'lead_1',
  });
  const github = signedBy('github', 'octo')['x-hub-signature-256'] ?? '';
  expect(await verifyByOctokit('octo', body, github)).toBe(true);
  const tampered = body.replace('lead_1', 'lead_2');
  expect(await verifyByOctokit('octo', tampered, github)).toBe(false);
  expect(() => new StandardWebhook(whsec).verify(tampered, signedBy('standard-webhooks', whsec))).toThrow();
});
