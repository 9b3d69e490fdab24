import { describe, expect, test } from 'vitest';
import { Secret } from '../../src/secret.ts';
import { checkHead } from '../../src/webhook/check-delivery.ts';
import type { Delivery } from '../../src/webhook/delivery.ts';
import { schemeNamed } from '../../src/webhook/scheme-registry.ts';

const policyOf = (name: string) => {
  const scheme = schemeNamed(name);
  const secret = name === 'token' ? 'right' : `whsec_${Buffer.alloc(32).toString('base64')}`;
  return { path: '/hook', scheme, keys: [scheme.key(new Secret(secret))] };
};

const headOf = (headers: Delivery['rawHeaders'], rest: Partial<Delivery> = {}): Delivery => ({
  method: 'POST',
  path: '/hook?a=1',
  url: 'https://localhost/hook?a=1',
  rawHeaders: headers,
  body: new Uint8Array(),
  remote: '127.0.0.1',
  receivedAt: 0,
  ...rest,
});

describe('what is wrong whatever the body', () => {
  test.each([
    ['another path', headOf([['x-webhook-token', 'right']], { path: '/other' }), 'wrong_path'],
    ['another method', headOf([['x-webhook-token', 'right']], { method: 'PUT' }), 'wrong_method'],
    ['no token', headOf([]), 'missing_credential'],
    ['a wrong token', headOf([['X-Webhook-Token', 'wrong']]), 'wrong_credential'],
    [
      'two tokens',
      headOf([
        ['x-webhook-token', 'right'],
        ['x-webhook-token', 'right'],
      ]),
      'repeated_credential',
    ],
    ['the right token', headOf([['X-Webhook-Token', 'right']]), undefined],
  ])('%s', (_name, head, reason) => {
    expect(checkHead(head, policyOf('token'))?.reason).toBe(reason);
  });

  test.each(['github', 'stripe', 'svix', 'standard-webhooks'])('no signature of %s', (name) => {
    expect(checkHead(headOf([['x-other', 'x']]), policyOf(name))?.reason).toBe('missing_credential');
  });

  test('a signature is not judged without the body that it covers', () => {
    const head = headOf([['X-Hub-Signature-256', `sha256=${'0'.repeat(64)}`]]);
    expect(checkHead(head, policyOf('github'))).toBeUndefined();
    const among = { ...head, rawHeaders: [['host', 'h'], ...head.rawHeaders, ['x-a', 'b']] as const };
    expect(checkHead(among, policyOf('github'))).toBeUndefined();
  });

  test('nothing is asked for where nothing is verified', async () => {
    const { unverified } = await import('../../src/webhook/scheme.ts');
    expect(checkHead(headOf([]), { path: undefined, scheme: unverified, keys: [] })).toBeUndefined();
  });
});
