import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { contentDigest } from '../../../src/webhook/rfc9421/signature-base.ts';
import { schemeNamed } from '../../../src/webhook/scheme-registry.ts';
import { verify } from '../verify.ts';
import { delivered, outgoing, sampleBody } from '../delivery.ts';
import { keyOf } from '../schemes/every.ts';

const now = Date.UTC(2026, 0, 15, 12);
const secret = 'a shared secret of thirty-two by';
const scheme = schemeNamed('rfc9421');
const digest = contentDigest(sampleBody);
const target = outgoing().url;

function signed(components: string, values: readonly string[], params = `;created=${now / 1000}`) {
  const names = components.split(' ');
  const lines = names.map((name, i) => `${name}: ${values[i] ?? ''}`);
  const base = [...lines, `"@signature-params": (${components})${params}`].join('\n');
  return {
    input: `(${components})${params}`,
    signature: `:${createHmac('sha256', secret).update(base).digest('base64')}:`,
  };
}

const full = signed('"@method" "@target-uri" "content-digest"', ['POST', target, digest]);

const take = (input: string, signature: string, more: readonly (readonly [string, string])[] = []) =>
  verify(
    delivered([['content-digest', digest], ['signature-input', input], ['signature', signature], ...more]),
    scheme,
    [keyOf(scheme, secret)],
    now,
  );

test('four signatures are read, and not one more in either header', () => {
  const others = (count: number, value: string) =>
    Array.from({ length: count }, (_, i) => `s${i}=${value}`).join(', ');
  const [inputs, signatures] = [
    `${others(3, '()')}, z=${full.input}`,
    `${others(3, ':AA==:')}, z=${full.signature}`,
  ];
  expect(take(inputs, signatures)).toMatchObject({ ok: true });
  expect(take(`${inputs}, y=()`, signatures)).toMatchObject({
    detail: 'the delivery holds too many signatures',
  });
  expect(take(inputs, `${signatures}, y=:AA==:`)).toMatchObject({
    detail: 'the delivery holds too many signatures',
  });
});

test('no more than 64 components are looked up, and the query is taken apart once for all of them', () => {
  const names = Array.from({ length: 300 }, (_, i) => `b${i}`);
  let reads = 0;
  const covering = (count: number) => {
    const covered = names.slice(0, count - 3);
    const components = covered.map((name) => `"@query-param";name="${name}"`);
    const { input, signature } = signed(
      ['"@method" "@target-uri" "content-digest"', ...components].join(' '),
      ['POST', target, digest],
    );
    const headers = delivered([
      ['content-digest', digest],
      ['signature-input', `s=${input}`],
      ['signature', `s=${signature}`],
    ]);
    const arrived = {
      ...headers,
      get path() {
        reads += 1;
        return `/?${names.join('&')}`;
      },
    };
    return verify(arrived, scheme, [keyOf(scheme, secret)], now);
  };
  expect(covering(64)).toMatchObject({ ok: true });
  expect(reads).toBeLessThan(5);
  expect(covering(65)).toMatchObject({ reason: 'malformed_credential' });
});

test.each([
  ['a text of the right length', `"${'x'.repeat(32)}"`],
  ['a number', '5'],
  ['a list', '(:AA==:)'],
  ['a flag', '?1'],
])('a signature must be bytes: %s', (_, signature) => {
  expect(take(`s=${full.input}`, `s=${full.signature}`)).toMatchObject({ ok: true });
  expect(take(`s=${full.input}`, `s=${signature}`)).toMatchObject({
    reason: 'malformed_credential',
    detail: 'signature must hold the bytes of a signature',
  });
});

test('a list of components is needed, and a signature of the same name', () => {
  expect(take('s=1', `s=${full.signature}`)).toMatchObject({
    detail: 'signature-input must hold a list of components',
  });
  expect(take(`s=${full.input}`, `t=${full.signature}`)).toMatchObject({
    reason: 'malformed_credential',
    detail: 'signature-input and signature do not name the same signatures',
  });
});

test('a component is named by a text and by nothing else', () => {
  const token = signed('"@method" "@target-uri" content-digest', ['POST', target, digest]);
  expect(take(`s=${token.input}`, `s=${token.signature}`)).toMatchObject({ reason: 'malformed_credential' });
});

test('authority and request target together stand for the whole target, a part of them does not', () => {
  const of = (names: string, values: readonly string[]) => {
    const one = signed(`"@method" "content-digest" ${names}`, ['POST', digest, ...values]);
    return take(`s=${one.input}`, `s=${one.signature}`);
  };
  const path = '/leads?source=a%20b';
  expect(of('"@authority" "@request-target"', ['hooks.example.com', path])).toMatchObject({ ok: true });
  expect(of('"@request-target"', [path])).toMatchObject({
    detail: 'the signature does not cover @target-uri',
  });
  expect(of('"@authority" "@query"', ['hooks.example.com', '?source=a%20b'])).toMatchObject({
    detail: 'the signature does not cover @target-uri',
  });
});

test('a target without a query is covered by authority and path', () => {
  const one = signed('"@method" "content-digest" "@authority" "@path"', [
    'POST',
    digest,
    'hooks.example.com',
    '/leads',
  ]);
  const headers = [
    ['content-digest', digest],
    ['signature-input', `s=${one.input}`],
    ['signature', `s=${one.signature}`],
  ] as const;
  const at = (url: string) =>
    verify(delivered(headers, { ...outgoing(), url }), scheme, [keyOf(scheme, secret)], now);
  expect(at('https://hooks.example.com/leads')).toMatchObject({ ok: true });
  expect(at('https://hooks.example.com/leads?a=1')).toMatchObject({
    detail: 'the signature does not cover @target-uri',
  });
});

test('a header is signed as the bytes that were sent', () => {
  const one = signed('"@method" "@target-uri" "content-digest" "x-name"', [
    'POST',
    target,
    digest,
    'caf\u00e9',
  ]);
  const base = `"@method": POST\n"@target-uri": ${target}\n"content-digest": ${digest}\n"x-name": caf\u00e9\n"@signature-params": ${one.input}`;
  const mac = (encoding: 'latin1' | 'utf8') =>
    createHmac('sha256', secret).update(Buffer.from(base, encoding)).digest('base64');
  const header = [['x-name', 'caf\u00e9']] as const;
  expect(take(`s=${one.input}`, `s=:${mac('latin1')}:`, header)).toMatchObject({ ok: true });
  expect(take(`s=${one.input}`, `s=:${mac('utf8')}:`, header)).toMatchObject({ ok: false });
});

test('keyid, nonce and alg are read where they are texts', () => {
  const of = (params: string) => {
    const one = signed('"@method" "@target-uri" "content-digest"', ['POST', target, digest], params);
    return take(`s=${one.input}`, `s=${one.signature}`);
  };
  const created = `;created=${now / 1000}`;
  expect(of(`${created};nonce="n"`)).toMatchObject({ ok: true, nonce: 'n' });
  expect(of(`${created};nonce=5`)).toMatchObject({ ok: true, nonce: undefined });
  expect(of(`${created};alg=hmac-sha256`)).toMatchObject({ reason: 'wrong_credential' });
  expect(of(`${created};alg="hmac-sha256"`)).toMatchObject({ ok: true });
  expect(of(`;created=${now / 1000}.0`)).toMatchObject({ reason: 'missing_timestamp' });
});
