import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { explanationLines } from '../../../src/output/explanation.ts';
import { explain } from '../../../src/webhook/explain/explain-delivery.ts';
import type { SchemeOptions } from '../../../src/webhook/scheme-options.ts';
import { schemeNamed } from '../../../src/webhook/scheme-registry.ts';
import { delivered, type Headers, outgoing } from '../delivery.ts';
import { cases, keyOf } from '../schemes/every.ts';

const now = Date.UTC(2026, 0, 15, 12);
const secret = 'dGhpcyBpcyBhIHNlY3JldCE=';
const body = Buffer.from('{ "id": "lead_1", "name": "Zoë/é" }\n');
const mac = (content: string | Buffer, key: string | Buffer = secret, algorithm = 'sha256') =>
  createHmac(algorithm, key).update(content);

function why(name: string, headers: Headers, options: SchemeOptions = {}, other = secret): string {
  const scheme = schemeNamed(name, options);
  const guard = { scheme, keys: [keyOf(scheme, other)] };
  return explanationLines(explain(delivered(headers, outgoing(body)), guard, now), 'linux').join(' ');
}

const header = { signatureHeader: 'x-signature' };

test('a delivery of another scheme is explained by its headers', () => {
  const github = schemeNamed('github');
  const headers = github.sign(outgoing(body), keyOf(github, secret), now);
  expect(why('token', headers)).toBe(
    "It matches under the scheme 'github', and the scheme here is 'token'. " +
      `To take such deliveries, as flags of 'leads listen': --scheme github --secret "$LEADS_WEBHOOK_TOKEN"`,
  );
  expect(why('token', headers, {}, 'unrelated')).toContain("header of the scheme 'github'");
});

/** As it is to be given to a shell. */
const schemeIn = (sentences: string): unknown =>
  JSON.parse(/as flags of 'leads listen': --scheme '(.*?)'/.exec(sentences)?.[1] ?? 'null');

test('a scheme that is found is explained by flags that accept the delivery', () => {
  const recipes: [Headers, SchemeOptions][] = [
    [
      [['X-Acme-Signature', `sha256=${mac(body).digest('base64')}`]],
      { signatureHeader: 'x-acme-signature', encoding: 'base64', prefix: 'sha256=' },
    ],
    [
      [['X-Acme-Signature', mac(body, Buffer.from(secret, 'base64'), 'sha512').digest('base64url')]],
      {
        signatureHeader: 'x-acme-signature',
        algorithm: 'hmac-sha512',
        encoding: 'base64url',
        secretEncoding: 'base64',
      },
    ],
  ];
  for (const [headers, options] of recipes) {
    const sentences = why('token', headers);
    expect(schemeIn(sentences)).toEqual(options);
    const scheme = schemeNamed('custom', options);
    const verdict = scheme.authenticate(delivered(headers, outgoing(body)), [keyOf(scheme, secret)]);
    expect(verdict).toMatchObject({ ok: true });
  }
});

test('a scheme that only a flag selects is explained by the flag', () => {
  const whsec = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
  const acme = schemeNamed('standard-webhooks', { headerPrefix: 'acme' });
  const branded = acme.sign(outgoing(body), keyOf(acme, whsec), now);
  expect(why('svix', branded, {}, whsec)).toContain(
    '--scheme \'{"scheme":"standard-webhooks","headerPrefix":"acme"}\'',
  );
  expect(why('token', [['X-Api-Token', secret]])).toContain(
    '--scheme \'{"scheme":"token","tokenHeader":"x-api-token"}\'',
  );
});

test('the same header of two vendors is not called a matter of the scheme', () => {
  expect(why('github', [['X-Hub-Signature-256', `sha256=${'0'.repeat(64)}`]])).toContain('another secret');
});

test('a URL that a proxy changed is explained', () => {
  const square = schemeNamed('square');
  const keys = [keyOf(square, secret)];
  const message = outgoing(body);
  const sent = delivered(square.sign(message, keyOf(square, secret), now), message);
  const rawHeaders = [...sent.rawHeaders, ['X-Forwarded-Host', 'hooks.example.com']] as const;
  const came = { ...sent, rawHeaders, url: message.url.replace('hooks.example.com', '10.0.0.7:8443') };
  expect(explanationLines(explain(came, { scheme: square, keys }, now), 'linux').join()).toContain(
    'was made for https://hooks.example.com',
  );
  expect(explanationLines(explain(came, { scheme: square, keys }, now), 'linux').join()).toContain(
    '"publicUrl":"https://hooks.example.com/leads"',
  );
  const proxied = schemeNamed('square', { publicUrl: new URL('https://hooks.example.com/leads') });
  expect(proxied.authenticate(came, keys)).toMatchObject({ ok: true });
});

test('a time in another unit, and clocks that differ, are explained', () => {
  const stamped = (ms: number, format: 'unix' | 'milliseconds') => {
    const options = { ...header, timestampHeader: 'x-time' };
    const sender = schemeNamed('custom', { ...options, timestampFormat: format });
    const headers = sender.sign(outgoing(body), keyOf(sender, secret), ms);
    return (as: 'unix' | 'milliseconds') => why('custom', headers, { ...options, timestampFormat: as });
  };
  expect(stamped(now, 'milliseconds')('unix')).toContain('"timestampFormat":"milliseconds"');
  expect(schemeIn(stamped(now, 'unix')('milliseconds'))).toEqual({ ...header, timestampHeader: 'x-time' });
  const stripe = schemeNamed('stripe');
  const given = stripe.sign(outgoing(body), keyOf(stripe, secret), now * 1000);
  // The flag belongs to another scheme: with this one it would be rejected.
  expect(why('stripe', given)).toContain('stripe signs another unit');
  expect(stamped(now - 3_600_000, 'unix')('unix')).toContain('too old');
  expect(stamped(now + 3_600_000, 'unix')('unix')).toContain('ahead');
  expect(stamped(now, 'unix')('unix')).toBe('');
});

test('no explanation contains a secret or a signature', () => {
  for (const { scheme, secret: right, other } of cases) {
    const headers = scheme.sign(outgoing(body), keyOf(scheme, right), now - 900_000);
    for (const given of [right, other]) {
      const keys = [keyOf(scheme, given)];
      const text = explanationLines(
        explain(delivered(headers, outgoing(body)), { scheme, keys }, now),
        'linux',
      ).join(' ');
      for (const part of [given, ...headers.map(([, value]) => value)]) {
        if (part.length > 20) expect(text).not.toContain(part);
      }
    }
  }
});

test('a body of the largest size is explained with bounded work', () => {
  const scheme = schemeNamed('custom', header);
  const large = outgoing(Buffer.from(JSON.stringify({ id: 'x'.repeat(1_000_000) })));
  const junk = Array.from({ length: 90 }, (_, i) => [`x-sig-${i}`, mac(String(i)).digest('hex')] as const);
  const keys = ['a', 'b', 'c', 'd'].map((one) => keyOf(scheme, one));
  const begin = process.cpuUsage();
  expect(explanationLines(explain(delivered(junk, large), { scheme, keys }, now), 'linux')).toHaveLength(1);
  expect(process.cpuUsage(begin).user / 1000).toBeLessThan(2000);
});
