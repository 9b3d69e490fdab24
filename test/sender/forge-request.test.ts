import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { Secret } from '../../src/secret.ts';
import {
  canForge,
  forgeRequest,
  type Forgery,
  forgeryKinds,
  type SignedContent,
  type Signer,
  signRequest,
} from '../../src/sender/sign-request.ts';
import { checkDelivery } from '../../src/webhook/check-delivery.ts';
import { schemeNamed } from '../../src/webhook/scheme-registry.ts';
import { unverified } from '../../src/webhook/scheme.ts';

const now = Date.UTC(2026, 0, 15, 12);
const content: SignedContent = {
  id: 'msg_1',
  target: 'https://localhost/hook',
  body: Buffer.from('{"id":"a"}'),
};

function signer(name: string, secret = 'secret'): Signer {
  const scheme = schemeNamed(name);
  return { scheme, key: scheme.key(new Secret(secret)) };
}

const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();

const standard = signer('standard-webhooks', 'whsec_c2VjcmV0IG9mIHRoZSBzYW5kYm94IHRlc3Rz');

/** Why the request would be rejected, or `authentic`. */
function verdict({ scheme, key }: Signer, request: ReturnType<typeof signRequest>): string {
  const delivery = {
    method: 'POST',
    path: '/hook',
    url: content.target,
    rawHeaders: request.headers,
    body: request.body,
    remote: '',
    receivedAt: now,
  };
  const keys = key === undefined ? [] : [key];
  const checked = checkDelivery(delivery, { path: undefined, scheme, keys }, now);
  return checked.kind === 'rejected' ? checked.reason : 'authentic';
}

test.each<{ forgery: Forgery; reason: string }>([
  { forgery: { kind: 'badSignature' }, reason: 'wrong_credential' },
  { forgery: { kind: 'staleTimestamp' }, reason: 'stale_timestamp' },
  { forgery: { kind: 'alteredPayload' }, reason: 'wrong_credential' },
])('a receiver that verifies rejects $forgery.kind as $reason', ({ forgery, reason }) => {
  expect(verdict(standard, signRequest(standard, content, now))).toBe('authentic');
  expect(verdict(standard, forgeRequest(standard, content, now, forgery))).toBe(reason);
});

test.each(['{}', ' { }', '{"id":"a"}', '{ "id": "a" }'])('an altered payload is JSON: %s', (text) => {
  const { body } = forgeRequest(standard, { ...content, body: Buffer.from(text) }, now, {
    kind: 'alteredPayload',
  });
  const original = JSON.parse(text) as object;
  expect(JSON.parse(Buffer.from(body).toString())).toEqual({ ...original, forged: true });
});

test('a reused nonce is correctly signed, and only its id gives it away', () => {
  const request = forgeRequest(standard, content, now, { kind: 'reusedNonce', usedId: 'msg_0' });
  expect(verdict(standard, request)).toBe('authentic');
  expect(request.headers).toContainEqual(['webhook-id', 'msg_0']);
});

test('where the body is not signed, a bad signature is another token of the same length', () => {
  const token = signer('token', 'a-shared-token');
  const request = forgeRequest(token, content, now, { kind: 'badSignature' });
  expect(verdict(token, request)).toBe('wrong_credential');
  expect(request.headers.map(([, value]) => value.length)).toEqual(
    signRequest(token, content, now).headers.map(([, value]) => value.length),
  );
});

test.each<{ name: string; signer: Signer; possible: readonly string[] }>([
  { name: 'token', signer: signer('token'), possible: ['badSignature'] },
  { name: 'github', signer: signer('github'), possible: ['badSignature', 'alteredPayload'] },
  {
    name: 'stripe',
    signer: signer('stripe'),
    possible: ['badSignature', 'staleTimestamp', 'alteredPayload'],
  },
  { name: 'standard-webhooks', signer: standard, possible: forgeryKinds },
  {
    name: 'a signature that is new each time',
    signer: { scheme: schemeNamed('sendgrid'), key: schemeNamed('sendgrid').key(new Secret(p256)) },
    possible: ['badSignature', 'staleTimestamp', 'alteredPayload'],
  },
  { name: 'an unsigned delivery', signer: { scheme: unverified, key: undefined }, possible: [] },
])('$name: only what it signs can be forged', ({ signer: tested, possible }) => {
  expect(forgeryKinds.filter((kind) => canForge(tested, kind))).toEqual(possible);
});
