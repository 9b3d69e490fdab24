import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { runInNewContext } from 'node:vm';
import { request } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  ConfigError,
  explain,
  ParsedBodyError,
  type SchemeName,
  sign,
  type SignedDelivery,
  verify,
  type VerifyOptions,
} from '../../../src/library/webhook.ts';
import { schemeNames } from '../../../src/webhook/vendor-presets.ts';
import { vendors, whsec } from '../vendor-deliveries.ts';
import { openServer } from '../../support/open-server.ts';

const body = '{"id":"lead_1","amount":9007199254740993,"contact":{"name":"Zoë"}}';
const choice = { scheme: 'github', secrets: 'octo' } as const;
const url = 'https://app.test/hooks/leads';

const requestOf = (signed: SignedDelivery): Request => new Request(url, signed);
const plain = (signed: SignedDelivery) => ({ ...signed, url: '/hooks/leads' });

/** The request that a server got, and what `use` made of it. */
async function received<T>(
  delivery: SignedDelivery,
  use: (request: IncomingMessage) => Promise<T>,
): Promise<T> {
  let result: Promise<T> | undefined;
  const server = createServer((request, response) => {
    result = use(request);
    void result.finally(() => response.end('{}')).catch(() => undefined);
  });
  const { port, close } = await openServer(server);
  onTestFinished(close);
  await request(`http://127.0.0.1:${port}/hooks/leads`, delivery);
  if (result === undefined) throw new Error('nothing was received');
  return result;
}

test.each(vendors)(
  "a delivery of $scheme's own library is genuine, and not with a flipped byte",
  async (vendor) => {
    const headers = { 'content-type': 'application/json', ...(await vendor.headers(body)) };
    const options: VerifyOptions = {
      scheme: vendor.scheme,
      secrets: ['another', vendor.secret].slice(vendor.secret === whsec ? 1 : 0),
    };
    const checked = await verify({ method: 'POST', url, headers, body }, options);
    expect(checked).toMatchObject({ ok: true, secret: vendor.secret === whsec ? 0 : 1 });
    if (!checked.ok) return;
    expect(checked.leads.map(({ id, bytes }) => [id, Buffer.from(bytes).toString()])).toEqual([
      ['lead_1', body],
    ]);
    expect(checked.leads[0]?.value).toMatchObject({ contact: { name: 'Zoë' } });
    expect(JSON.parse(JSON.stringify(checked.leads))).toEqual([JSON.parse(body)]);
    const flipped = Buffer.from(body);
    flipped.writeUInt8(flipped.readUInt8(10) ^ 1, 10);
    expect(await verify({ method: 'POST', url, headers, body: flipped }, options)).toMatchObject({
      ok: false,
      status: 401,
      reason: 'wrong_credential',
      hint: expect.stringContaining('does not match') as string,
    });
  },
);

test('without a lead, the signature and its time are all that is checked', async () => {
  const slack = { scheme: 'slack', secrets: 's3cret', now: 1_700_000_000_000 } as const;
  const form = await sign('token=t&command=%2Flead', slack);
  const request = {
    ...plain(form),
    headers: { ...form.headers, 'content-type': 'application/x-www-form-urlencoded' },
  };
  expect(await verify(request, slack)).toMatchObject({ ok: false, status: 415 });
  expect(await verify(request, { ...slack, lead: false })).toEqual({ ok: true, leads: [], secret: 0 });
  const late = { ...slack, now: slack.now + 600_000, lead: false };
  expect(await verify(request, late)).toMatchObject({ ok: false, status: 401, reason: 'stale_timestamp' });
  expect(await verify({ ...request, body: 'token=t' }, { ...slack, lead: false })).toMatchObject({
    ok: false,
    reason: 'wrong_credential',
  });
});

const pem = (
  key: { export(options: { type: 'spki' | 'pkcs8'; format: 'pem' }): string | Buffer },
  type: 'spki' | 'pkcs8',
) => key.export({ type, format: 'pem' }).toString();

describe('every scheme', () => {
  const base64 = Buffer.from('a secret of twenty-four.').toString('base64');
  const ed25519 = generateKeyPairSync('ed25519');
  const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pairs: Partial<Record<SchemeName, readonly [secret: string, publicKey: string]>> = {
    discord: [pem(ed25519.privateKey, 'pkcs8'), pem(ed25519.publicKey, 'spki')],
    sendgrid: [pem(p256.privateKey, 'pkcs8'), pem(p256.publicKey, 'spki')],
  };
  const names = schemeNames.filter((name): name is SchemeName => name !== 'custom');

  test.each(names)('%s: what is signed verifies, and nothing else', async (scheme) => {
    const [secrets, publicKey] = pairs[scheme] ?? [base64, base64];
    const signed = await sign({ id: 'a' }, { scheme, secrets, url });
    const options = { scheme, secrets: publicKey };
    expect(await verify(requestOf(signed), options)).toMatchObject({ ok: true, leads: [{ id: 'a' }] });
    const other = { ...plain(signed), headers: { ...signed.headers, host: 'app.test' } };
    expect(await verify(other, options)).toMatchObject({ ok: true });
    expect(
      await verify({ ...other, headers: { 'content-type': 'application/json' } }, options),
    ).toMatchObject({
      ok: false,
      status: 401,
    });
  });
});

describe('secrets that are bytes', () => {
  const bytes = Uint8Array.from({ length: 32 }, (_, i) => 255 - i);

  test.each<SchemeName>(['github', 'standard-webhooks'])('%s: the key itself', async (scheme) => {
    const signed = await sign({ id: 'a' }, { scheme, secrets: bytes, url });
    const text = scheme === 'standard-webhooks' ? Buffer.from(bytes).toString('base64') : undefined;
    expect(await verify(requestOf(signed), { scheme, secrets: text ?? bytes })).toMatchObject({ ok: true });
    const other = Uint8Array.from(bytes).fill(0, 0, 1);
    expect(await verify(requestOf(signed), { scheme, secrets: other })).toMatchObject({
      ok: false,
      status: 401,
    });
  });

  test('a token, a PEM file, a DER', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const token = await sign({ id: 'a' }, { scheme: 'token', secrets: Buffer.from('a-token') });
    expect(token.headers).toMatchObject({ 'x-webhook-token': 'a-token' });
    const signed = await sign(
      { id: 'a' },
      { scheme: 'discord', secrets: Buffer.from(pem(privateKey, 'pkcs8')) },
    );
    const der = publicKey.export({ type: 'spki', format: 'der' });
    expect(await verify(requestOf(signed), { scheme: 'discord', secrets: der })).toMatchObject({ ok: true });
  });

  test('of another realm, as in the tests of an application', async () => {
    const foreign = runInNewContext('new Uint8Array([1, 2, 3])') as Uint8Array;
    const signed = await sign({ id: 'a' }, { scheme: 'github', secrets: foreign });
    const copy = runInNewContext('Uint8Array.from(bytes)', { bytes: signed.body }) as Uint8Array;
    const delivery = { ...plain(signed), body: copy };
    expect(await verify(delivery, { scheme: 'github', secrets: foreign })).toMatchObject({ ok: true });
  });
});

describe('the body of a request', () => {
  test('is read from a request of node:http, and kept for explain', async () => {
    const signed = await sign({ id: 'a' }, { scheme: 'stripe', secrets: 'octo' });
    const [checked, again, why] = await received(signed, async (request) => [
      await verify(request, choice),
      await verify(request, { scheme: 'stripe', secrets: 'octo' }),
      await explain(request, choice),
    ]);
    expect(checked).toMatchObject({ ok: false, reason: 'missing_credential' });
    expect(again).toMatchObject({ ok: true });
    expect(why.join()).toContain('stripe');
  });

  test.each(['fetch', 'node:http'])('is read once for calls at one time, of %s', async (kind) => {
    const signed = await sign({ id: 'a' }, { scheme: 'stripe', secrets: 'octo' });
    const check = (request: Request | IncomingMessage) =>
      Promise.all([verify(request, choice), verify(request, { scheme: 'stripe', secrets: 'octo' })]);
    const checked = await (kind === 'fetch' ? check(requestOf(signed)) : received(signed, check));
    expect(checked).toMatchObject([{ ok: false, reason: 'missing_credential' }, { ok: true }]);
  });

  test('is an error at once where it was parsed, with the fix for the framework', async () => {
    const signed = await sign({ id: 'a' }, choice);
    const hintOf = async (request: object): Promise<string | undefined> => {
      const thrown: unknown = await verify(request as Request, choice).catch((error: unknown) => error);
      expect(thrown).toBeInstanceOf(ParsedBodyError);
      return (thrown as ParsedBodyError).hint;
    };
    const parsed = { ...plain(signed), body: { id: 'a' } };
    expect(await hintOf(parsed)).toContain('pass the bytes as they came');
    expect(await hintOf({ ...parsed, routeOptions: {} })).toContain('Fastify');
    const read = requestOf(signed);
    await read.text();
    expect(await hintOf(read)).toContain('c.req.raw');
    const locked = requestOf(signed);
    locked.body?.getReader();
    expect(await hintOf(locked)).toContain('Next');
    await received(signed, async (request) => {
      for await (const _ of request);
      expect(await hintOf(Object.assign(request, { body: { id: 'a' }, query: {}, cookies: {} }))).toContain(
        'bodyParser: false',
      );
    });
  });

  test('is taken from rawBody, and read where a parser left it alone', async () => {
    const signed = await sign({ id: 'a' }, choice);
    const checked = await received(signed, async (request) => {
      for await (const _ of request);
      return verify(Object.assign(request, { body: { id: 'a' }, rawBody: Buffer.from(signed.body) }), choice);
    });
    expect(checked).toMatchObject({ ok: true });
    const unread = await received(signed, (request) => verify(Object.assign(request, { body: {} }), choice));
    expect(unread).toMatchObject({ ok: true });
  });

  test('is bounded in size', async () => {
    const signed = await sign({ id: 'a', note: 'x'.repeat(1000) }, choice);
    for (const request of [requestOf(signed), plain(signed)]) {
      expect(await verify(request, { ...choice, maxBodyBytes: 100 })).toMatchObject({
        ok: false,
        status: 413,
        hint: 'the body is larger than 100 bytes',
      });
    }
  });

  test('is bounded in time', async () => {
    const never = new ReadableStream({ start: () => undefined });
    const init = { method: 'POST', body: never, duplex: 'half' } as const;
    expect(await verify(new Request(url, init), { ...choice, bodyTimeoutMs: 1 })).toMatchObject({
      ok: false,
      status: 408,
    });
  });

  test('of a stream that breaks is incomplete', async () => {
    const broken = new ReadableStream({ pull: (controller) => controller.error(new Error('reset')) });
    const init = { method: 'POST', body: broken, duplex: 'half' } as const;
    expect(await verify(new Request(url, init), choice)).toMatchObject({ reason: 'incomplete_body' });
  });
});

test('the path is the one that was sent, where Express took off the part of its router', async () => {
  const secrets = 'hush';
  const target = 'https://app.test/hooks/leads?a=b';
  const signed = await sign({ id: 'a' }, { scheme: 'square', secrets, url: target });
  const options = { scheme: 'square', secrets, publicUrl: 'https://app.test/' } as const;
  const mounted = { url: '/leads?a=b', originalUrl: '/hooks/leads?a=b' };
  const checked = await received(signed, (request) => verify(Object.assign(request, mounted), options));
  expect(checked).toMatchObject({ ok: true });
});

test('leads are found in an envelope, and several in an array', async () => {
  const envelope = '{"event":"lead","data":{"id":"a","category":"solar"}}';
  const found = await verify(requestOf(await sign(envelope, choice)), choice);
  expect(found).toMatchObject({ ok: true, leads: [{ id: 'a', value: { id: 'a', category: 'solar' } }] });
  const several = requestOf(await sign('{"rows":[{"id":1},{"id":2}]}', choice));
  expect(await verify(several, { ...choice, leadAt: '/rows' })).toMatchObject({
    ok: true,
    leads: [{ id: '1' }, { id: '2' }],
  });
  const unclear = await verify(requestOf(await sign('[1]', choice)), choice);
  expect(unclear).toMatchObject({
    ok: false,
    status: 400,
    hint: expect.stringMatching(/say with idField .*, or with leadAt where/) as string,
  });
});

test('the id may be another field, which the hint names', async () => {
  const request = async () => requestOf(await sign('{"uuid":"a","category":"solar"}', choice));
  expect(await verify(await request(), { ...choice, idField: 'uuid' })).toMatchObject({
    ok: true,
    leads: [{ id: 'a' }],
  });
  expect(await verify(await request(), choice)).toMatchObject({
    status: 400,
    hint: "there is no 'id', only 'uuid'; say with idField which field of a lead is its id",
  });
});

test('a signed time is checked against now, with the tolerance', async () => {
  const stripe = { scheme: 'stripe', secrets: 'hush' } as const;
  const now = Date.UTC(2026, 0, 15);
  const signed = plain(await sign({ id: 'a' }, { ...stripe, now }));
  expect(await verify(signed, { ...stripe, now: now + 299_000 })).toMatchObject({ ok: true });
  expect(await verify(signed, { ...stripe, now: now + 301_000 })).toMatchObject({
    reason: 'stale_timestamp',
  });
  expect(await verify(signed, { ...stripe, now: now + 301_000, toleranceMs: 400_000 })).toMatchObject({
    ok: true,
  });
  expect(await verify(signed, stripe)).toMatchObject({ ok: false, reason: 'stale_timestamp' });
});

test('sign takes bytes, a text, an object, and a lead that was received', async () => {
  const texts = await Promise.all(
    [body, Buffer.from(body), { id: 'lead_1' }].map(async (lead) =>
      Buffer.from((await sign(lead, choice)).body).toString(),
    ),
  );
  expect(texts).toEqual([body, body, '{"id":"lead_1"}']);
  const checked = await verify(requestOf(await sign(body, choice)), choice);
  if (!checked.ok || checked.leads[0] === undefined) throw new Error('refused');
  expect(Buffer.from((await sign(checked.leads[0], choice)).body).toString()).toBe(body);
});

test('an explanation names what would have matched, and there is none for a genuine delivery', async () => {
  const signed = plain(await sign({ id: 'a' }, { scheme: 'stripe', secrets: 'octo' }));
  expect((await explain(signed, choice)).join(' ')).toMatch(/stripe.*--scheme stripe/);
  expect(await explain(signed, { scheme: 'stripe', secrets: 'octo' })).toEqual([]);
});

test.each<[string, object]>([
  ["the webhook scheme 'strip' is unknown", { scheme: 'strip' }],
  ["the webhook scheme 'none' is unknown", { scheme: 'none' }],
  ['no scheme is named', { scheme: undefined }],
  ['no scheme is named', { scheme: { signatureHeader: 'x-sig' } }],
  ['no secret is given', { secrets: [] }],
  ['secret 1 is undefined', { secrets: undefined }],
  ['secret 2 is neither a text nor bytes', { secrets: ['a', 5] }],
  ['the webhook secret is empty', { secrets: '' }],
  ['the webhook secret is empty', { secrets: new Uint8Array() }],
  ["the webhook secret is not base64 after 'whsec_'", { scheme: 'svix', secrets: 'whsec_?' }],
  ["'signatureheader' is no part of a scheme", { scheme: { name: 'custom', signatureheader: 'x' } }],
  ['tokenHeader belongs to the scheme token', { scheme: { name: 'github', tokenHeader: 'x' } }],
  [
    "the scheme's algorithm must be hmac-sha256, hmac-sha384, hmac-sha512, hmac-sha1, ",
    { scheme: { name: 'custom', signatureHeader: 'x', algorithm: 'sha256' } },
  ],
  ["the scheme's prefix must be a text", { scheme: { name: 'custom', signatureHeader: 'x', prefix: 1 } }],
  ["the scheme 'custom' needs the name", { scheme: { name: 'custom' } }],
  ["toleranceMs: the scheme 'github' signs no time", { toleranceMs: 5 }],
  ['toleranceMs must be a number', { scheme: 'stripe', toleranceMs: Number.NaN }],
  ["publicUrl 'app' is not a URL", { publicUrl: 'app' }],
  ["publicUrl 'a.example:443/hook' is not a URL", { publicUrl: 'a.example:443/hook' }],
  ["leadAt 'data' is no JSON Pointer", { leadAt: 'data' }],
  ['idField is not the name of a field', { idField: '' }],
])('%s: a typed error at once: %j', async (message, wrong) => {
  const request = new Request(url, { method: 'POST', body });
  const thrown: unknown = await verify(request, { ...choice, ...wrong }).catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(ConfigError);
  expect((thrown as ConfigError).message).toContain(message);
  expect((thrown as ConfigError).hint ?? '').not.toMatch(/--[a-z]/);
  expect(request.bodyUsed).toBe(false);
});

test.each([{}, { method: 'POST', raw: new Request(url) }])(
  'what is no request is an error at once: %j',
  async (given) => {
    await expect(verify(given as unknown as Request, choice)).rejects.toThrow(ConfigError);
  },
);

test('sign refuses what it cannot sign', async () => {
  const { publicKey } = generateKeyPairSync('ed25519');
  const discord = { scheme: 'discord', secrets: pem(publicKey, 'spki') } as const;
  await expect(sign({ id: 'a' }, discord)).rejects.toThrow('a public key verifies but cannot sign');
  await expect(sign({ id: 'a' }, { scheme: 'square', secrets: 'a' })).rejects.toThrow('signs the URL');
});
