import { createVerifier, httpbis } from 'http-message-signatures';
import { expect, test } from 'vitest';
import { said } from '../../support/said.ts';
import { ConfigError, UsageError } from '../../../src/errors.ts';
import { schemeNamed } from '../../../src/webhook/scheme-registry.ts';
import { verify } from '../verify.ts';
import { delivered, type Headers, outgoing, sampleBody } from '../delivery.ts';
import { keyOf } from '../schemes/every.ts';

const now = Date.UTC(2026, 0, 15, 12);
const secret = 'a shared secret of thirty-two by';
const message = outgoing();

const sign = (require?: readonly string[]) => {
  const scheme = schemeNamed('rfc9421', { require });
  return scheme.sign(message, keyOf(scheme, secret), now);
};

/** With what every delivery has on its way. */
const sent = (headers: Headers) => delivered([...headers, ['Content-Length', String(sampleBody.length)]]);

test.each([
  [undefined, '("@method" "@target-uri" "content-digest")'],
  [['digest'], '("content-digest")'],
  [['digest', 'target'], '("content-digest" "@target-uri")'],
  [['digest', 'digest', 'content-digest'], '("content-digest")'],
  [
    ['method', '@authority', '@scheme', '@path', '@query', '@request-target', 'digest'],
    '("@method" "@authority" "@scheme" "@path" "@query" "@request-target" "content-digest")',
  ],
  [
    ['digest', 'Content-Type', 'content-length', 'host', 'date'],
    '("content-digest" "content-type" "content-length" "host" "date")',
  ],
])('what must be covered is what is signed: %j', async (require, covered) => {
  const headers = sign(require);
  expect(new Map(headers).get('signature-input')).toContain(`sig1=${covered};created=`);
  const scheme = schemeNamed('rfc9421', { require });
  expect(verify(sent(headers), scheme, [keyOf(scheme, secret)], now)).toMatchObject({ ok: true });
  const verifiedByLibrary = await httpbis.verifyMessage(
    {
      keyLookup: () =>
        Promise.resolve({ verify: createVerifier(secret, 'hmac-sha256'), algs: ['hmac-sha256'] }),
    },
    {
      method: message.method,
      url: message.url,
      headers: Object.fromEntries(
        sent(headers).rawHeaders.map(([name, value]) => [name.toLowerCase(), value]),
      ),
    },
  );
  expect(verifiedByLibrary).toBe(true);
});

test('a date is sent only where the signature covers it', () => {
  expect(new Map(sign(['digest', 'date'])).get('date')).toBe('Thu, 15 Jan 2026 12:00:00 GMT');
  expect(sign().map(([name]) => name)).toEqual(['content-digest', 'signature-input', 'signature']);
  expect(new Map(sign()).get('signature-input')).toContain(';keyid="leads";');
  expect(schemeNamed('rfc9421').credentialHeaders).toEqual(['signature-input', 'signature']);
});

test('a header that is not sent cannot be signed, and what no request has cannot be required', () => {
  expect(() => sign(['digest', 'X-Tenant', '@method', 'x-other'])).toThrow(UsageError);
  expect(said(() => sign(['digest', 'X-Tenant', '@method', 'x-other']))).toContain(
    'no x-tenant and x-other that',
  );
  for (const name of ['@status', '@query-param', '@signature-params', '@', '@Method']) {
    expect(() => schemeNamed('rfc9421', { require: ['digest', name] }), name).toThrow(ConfigError);
  }
});

test('keyid and nonce are quoted, and an id that no header can carry is an error', () => {
  const scheme = schemeNamed('rfc9421');
  const jwk = { kty: 'oct', k: Buffer.from(secret).toString('base64url'), kid: 'a "key" \\ 1' };
  const key = keyOf(scheme, JSON.stringify(jwk));
  const headers = scheme.sign({ ...message, id: 'say "hi"\\' }, key, now);
  expect(new Map(headers).get('signature-input')).toContain(
    String.raw`;keyid="a \"key\" \\ 1";nonce="say \"hi\"\\";alg="hmac-sha256"`,
  );
  expect(verify(sent(headers), scheme, [key], now)).toMatchObject({ ok: true, nonce: 'say "hi"\\' });
  expect(() => scheme.sign({ ...message, id: 'line\nbreak' }, key, now)).toThrow('that no header can carry');
});
