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

test('the same header of two vendors is not called a matter of the scheme', () => {
  expect(why('github', [['X-Hub-Signature-256', `sha256=${'0'.repeat(64)}`]])).toContain('another secret');
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
