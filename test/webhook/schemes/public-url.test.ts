import { expect, test } from 'vitest';
import type { Delivery } from '../../../src/webhook/delivery.ts';
import { schemeNamed, withPublicUrl } from '../../../src/webhook/scheme-registry.ts';
import { verify } from '../verify.ts';
import { delivered, outgoing } from '../delivery.ts';
import { keyOf } from './every.ts';

const now = Date.UTC(2026, 0, 15, 12);
const secret = 'a shared secret';

/** What a sender signed for one URL, as it comes to a receiver that a proxy calls at another. */
function arrived(name: string, signedFor: string, calledAt: string): Delivery {
  const scheme = schemeNamed(name);
  const headers = scheme.sign({ ...outgoing(), url: signedFor }, keyOf(scheme, secret), now);
  const { pathname, search } = new URL(calledAt);
  return { ...delivered(headers), url: calledAt, path: pathname + search };
}

function take(name: string, delivery: Delivery, publicUrl?: string) {
  const scheme = schemeNamed(name, { publicUrl: publicUrl === undefined ? undefined : new URL(publicUrl) });
  return verify(delivery, scheme, [keyOf(scheme, secret)], now);
}

const names = ['square', 'hubspot'];

test.each(names)('%s: only with a public URL is anything but the own URL of a request tried', (name) => {
  const inside = 'http://10.0.0.7:8443/leads?a=b';
  const delivery = arrived(name, 'https://hooks.example.com/leads?a=b', inside);
  expect(take(name, delivery)).toMatchObject({ reason: 'wrong_credential' });
  expect(take(name, delivery, 'https://hooks.example.com')).toMatchObject({ ok: true });
  expect(take(name, delivery, 'https://hooks.example.com/leads')).toMatchObject({ ok: true });
  for (const other of [
    'http://hooks.example.com',
    'https://hook.example.com',
    'https://hooks.example.com/lead',
  ]) {
    expect(take(name, delivery, other), other).toMatchObject({ reason: 'wrong_credential' });
  }
  expect(take(name, arrived(name, inside, inside), 'https://hooks.example.com')).toMatchObject({ ok: true });
});

test.each(names)("%s: a public URL's path and query stand in place of those of the request", (name) => {
  const signedFor = 'https://example.com/hooks/leads?tenant=7';
  const delivery = arrived(name, signedFor, 'http://localhost/internal');
  expect(take(name, delivery, signedFor)).toMatchObject({ ok: true });
  expect(take(name, delivery, 'https://example.com/hooks/leads')).toMatchObject({ ok: false });
  const withQuery = arrived(name, signedFor, 'http://localhost/internal?tenant=7');
  expect(take(name, withQuery, 'https://example.com/hooks/leads')).toMatchObject({ ok: true });
  const other = arrived(name, signedFor, 'http://localhost/internal?tenant=8');
  expect(take(name, other, 'https://example.com/hooks/leads')).toMatchObject({ ok: false });
});

test.each(names)('%s: a request without a query, and one with two question marks', (name) => {
  for (const query of ['', '?a?b']) {
    const delivery = arrived(name, `https://a.example/hook${query}`, `http://b.example/hook${query}`);
    expect(take(name, delivery, 'https://a.example'), query).toMatchObject({ ok: true });
    const moved = arrived(name, `https://a.example/x${query}`, `http://b.example/hook${query}`);
    expect(take(name, moved, 'https://a.example/x'), query).toMatchObject({ ok: true });
  }
});

test('what matches as it was received is not checked again', () => {
  const calls: string[] = [];
  const scheme = schemeNamed('square');
  const counted = withPublicUrl(
    {
      ...scheme,
      authenticate(delivery, keys) {
        calls.push(delivery.url);
        return scheme.authenticate(delivery, keys);
      },
    },
    new URL('https://c.example'),
  );
  const key = keyOf(scheme, secret);
  expect(counted.authenticate(arrived('square', 'https://a.example/', 'https://a.example/'), [key]).ok).toBe(
    true,
  );
  expect(calls).toEqual(['https://a.example/']);
});

test('a scheme that signs no URL is as it was', () => {
  const scheme = schemeNamed('github');
  expect(withPublicUrl(scheme, new URL('https://c.example'))).toBe(scheme);

  const delivery = arrived('github', 'https://a.example/', 'http://b.example/');
  expect(take('github', delivery, 'https://c.example/')).toMatchObject({ ok: true });
  expect(take('github', { ...delivery, body: Buffer.from('{}') }, 'https://c.example/')).toMatchObject({
    reason: 'wrong_credential',
  });
});
