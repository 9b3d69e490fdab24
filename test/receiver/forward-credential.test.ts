import { describe, expect, it, test } from 'vitest';
import { openInbox } from '../../src/inbox/open-inbox.ts';
import type { StoredDelivery } from '../../src/inbox/inbox.ts';
import { inboxRequirements } from '../../src/receiver/receiver.ts';
import { wasVerified, withFreshCredential } from '../../src/receiver/credentials.ts';
import { asReceived } from '../../src/receiver/stored-request.ts';
import { Secret } from '../../src/secret.ts';
import { checkDelivery } from '../../src/webhook/check-delivery.ts';
import { type Delivery, headerValues } from '../../src/webhook/delivery.ts';
import { unverified, type Verifier } from '../../src/webhook/scheme.ts';
import { schemeNamed } from '../../src/webhook/scheme-registry.ts';
import { FakeClock } from '../support/clock.ts';
import { delivered, outgoing } from '../webhook/delivery.ts';
import { cases, keyOf } from '../webhook/schemes/every.ts';

const dayMs = 86_400_000;
const clock = new FakeClock();

/** What the inbox of such a receiver holds of a delivery. */
async function stored(delivery: Delivery, verifier: Verifier): Promise<StoredDelivery> {
  const inbox = await openInbox({ location: ':memory:', clock, ...inboxRequirements(verifier, [], 0) });
  await inbox.take([{ delivery, leadId: 'lead_1' }]);
  for await (const one of inbox.list({})) return one;
  throw new Error('the inbox holds nothing');
}

/** The same as an app gets it a day later. */
const forwarded = (from: StoredDelivery, verifier: Verifier): Delivery =>
  fresh(from, verifier).checked.delivery;

function fresh(from: StoredDelivery, verifier: Verifier) {
  const checked = asReceived(from, []);
  const { checked: signed, isSigned } = wasVerified(from.headers, verifier.scheme)
    ? withFreshCredential(checked, verifier, from.seq, clock.now() + dayMs)
    : { checked, isSigned: false };
  return { checked: { ...signed, delivery: { ...signed.delivery, url: outgoing().url } }, isSigned };
}

const secretText = 'correct horse battery staple';
const signedOnce = { signatureHeader: 'X-Sig', signedContent: '{timestamp}.{nonce}.{body}' };
const once = { timestampHeader: 'X-Auth-Key-Time', nonceHeader: 'X-Access-Key' };
/** The headers of their ids look like those of credentials. */
const likeCredentials = [
  { name: 'token once', scheme: schemeNamed('token', once), secret: secretText },
  { name: 'custom once', scheme: schemeNamed('custom', { ...signedOnce, ...once }), secret: secretText },
];

test.each([...cases, ...likeCredentials])(
  '$name: an app that verifies takes what is forwarded a day later',
  async (one) => {
    const verifier = { scheme: one.scheme, keys: [keyOf(one.scheme, one.secret)] };
    const signed = one.scheme.sign(outgoing(), keyOf(one.scheme, one.secret), clock.now());
    const again = forwarded(await stored(delivered(signed), verifier), verifier);
    const policy = { ...verifier, path: undefined };
    expect(checkDelivery(again, policy, clock.now() + dayMs)).toMatchObject({ kind: 'leads', key: 0 });
    expect(again.rawHeaders).toHaveLength(delivered(signed).rawHeaders.length);
    const idHeader = signed.find(([, value]) => value === outgoing().id)?.[0];
    if (idHeader !== undefined) expect(headerValues(again, idHeader)).toEqual([outgoing().id]);
  },
);

const scheme = schemeNamed('standard-webhooks');
const secret = (letter: string): Secret => new Secret(`whsec_${letter.repeat(32)}`);
const verifier = { scheme, keys: [scheme.key(secret('b')), scheme.key(secret('a'))] };

describe('the credential of a forward', () => {
  const signed = scheme.sign(outgoing(), scheme.key(secret('a')), clock.now());

  it('has a new id where the one of the delivery was not stored', async () => {
    const options = {
      signatureHeader: 'x-sig',
      nonceHeader: 'x-auth-nonce',
      signedContent: '{nonce}.{body}',
    };
    const custom = schemeNamed('custom', options);
    const own = { scheme: custom, keys: [custom.key(new Secret('custom-secret'))] };
    const headers = [
      ['x-auth-nonce', '[redacted]'],
      ['x-sig', '[redacted]'],
    ] as const;
    const from = await stored(delivered(headers), own);
    const again = forwarded(from, own);
    expect(checkDelivery(again, { ...own, path: undefined }, clock.now())).toMatchObject({ kind: 'leads' });
    expect(headerValues(again, 'x-auth-nonce')).toEqual([`msg_${from.seq}`]);
  });

  it('is none where nothing was verified when it came', async () => {
    const from = await stored(delivered(signed), { scheme: unverified, keys: [] });
    expect(wasVerified(from.headers, verifier.scheme)).toBe(false);
    expect(headerValues(forwarded(from, verifier), 'webhook-signature')).toEqual([]);
  });

  it('is none where only the sender can sign', async () => {
    const discord = schemeNamed('discord');
    const publicKey = { scheme: discord, keys: [discord.key(new Secret('ab'.repeat(32)))] };
    const headers = [
      ['x-signature-ed25519', 'ab'],
      ['x-signature-timestamp', '1'],
    ] as const;
    const from = await stored(delivered(headers), publicKey);
    expect(wasVerified(from.headers, discord)).toBe(true);
    expect(fresh(from, publicKey).isSigned).toBe(false);
    expect(headerValues(forwarded(from, publicKey), 'x-signature-ed25519')).toEqual([]);
  });

  it('signs the address that the sender used', async () => {
    const publicUrl = new URL('https://public.test/hooks');
    const square = schemeNamed('square', { publicUrl });
    const own = { scheme: square, keys: [square.key(new Secret('square-secret'))] };
    const sent = { ...outgoing(), url: 'https://public.test/hooks?source=a%20b' };
    const headers = square.sign(sent, square.key(new Secret('square-secret')), clock.now());
    const again = forwarded(await stored(delivered(headers), own), own);
    expect(checkDelivery(again, { ...own, path: undefined }, clock.now())).toMatchObject({ kind: 'leads' });
  });
});
