import { existsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it, test } from 'vitest';
import { resolveScheme } from '../../../src/commands/flags/resolve-scheme.ts';
import { schemeFlags } from '../../../src/commands/flags/delivery-flags.ts';
import type { Settings } from '../../../src/config/load-settings.ts';
import { ConfigError, UsageError } from '../../../src/errors.ts';
import { Secret } from '../../../src/secret.ts';
import { schemeNames } from '../../../src/webhook/vendor-presets.ts';
import { optionsOf } from '../../support/options.ts';
import { freshHome, leads } from '../../support/run.ts';

type Stored = Partial<Pick<Settings, 'webhookScheme' | 'webhookToken' | 'webhookSecret'>>;

/** Words as typed, through the declared flags. */
async function resolve(argv: readonly string[], stored: Stored = {}, stdin = '') {
  const options = await optionsOf(schemeFlags('Who may deliver'), argv);
  const { scheme, keys } = await resolveScheme(options, stored as Settings, {
    stdin: Readable.from(stdin === '' ? [] : [stdin]),
  });
  return { name: scheme.name, secrets: keys.map((key) => key.secret.reveal()), scheme };
}

const token = new Secret('stored-token');
const secret = new Secret('stored-secret');
const file = (text: string): string => {
  const path = join(freshHome(), 'secret');
  writeFileSync(path, text);
  return path;
};

describe('who may deliver', () => {
  it('takes flags before what is stored', async () => {
    expect(await resolve(['--token', 'a'], { webhookToken: token })).toMatchObject({ secrets: ['a'] });
    const github = { webhookScheme: 'github', webhookSecret: secret };
    expect(await resolve(['--token', 'a'], github)).toMatchObject({ name: 'token', secrets: ['a'] });
    expect(await resolve(['--scheme', 'slack'], github)).toMatchObject({
      name: 'slack',
      secrets: ['stored-secret'],
    });
    expect(await resolve(['--secret', 's'], github)).toMatchObject({ name: 'github', secrets: ['s'] });
  });

  it('takes what is stored when there is no flag', async () => {
    expect(await resolve([], { webhookToken: token })).toMatchObject({
      name: 'token',
      secrets: ['stored-token'],
    });
    const stored = { webhookScheme: 'stripe', webhookSecret: secret, webhookToken: token };
    expect(await resolve([], stored)).toMatchObject({ name: 'stripe', secrets: ['stored-secret'] });
  });

  it('takes several, from flags and files, and one of them from stdin', async () => {
    const given = await resolve(
      ['--token', 'one', '--token', 'two', '--token-file', file('three\n'), '--token-file', '-'],
      {},
      'four\r\n',
    );
    expect(given).toMatchObject({ name: 'token', secrets: ['one', 'two', 'three', 'four'] });
    await expect(resolve(['--token-file', '-', '--token-file', '-'])).rejects.toThrow(UsageError);
  });

  it('names the ways when nothing says who', async () => {
    const error: unknown = await resolve([]).catch((one: unknown) => one);
    expect(error).toBeInstanceOf(ConfigError);
    expect(error).toMatchObject({ code: 'config' });
    for (const way of ['--token', '--scheme', 'LEADS_WEBHOOK_TOKEN', '--no-verify']) {
      expect((error as ConfigError).hint).toContain(way);
    }
  });

  it('never takes a token where a scheme is asked for', async () => {
    for (const name of schemeNames.filter((one) => one !== 'token' && one !== 'custom')) {
      await expect(resolve(['--scheme', name], { webhookToken: token })).rejects.toThrow(ConfigError);
      await expect(resolve([], { webhookScheme: name, webhookToken: token })).rejects.toThrow(ConfigError);
    }
    await expect(resolve([], { webhookScheme: 'githib', webhookToken: token })).rejects.toThrow(ConfigError);
    await expect(resolve(['--scheme', 'token'], { webhookSecret: secret })).rejects.toThrow(ConfigError);
  });

  it('opens the door for --no-verify alone', async () => {
    expect(await resolve(['--no-verify'], { webhookToken: token })).toMatchObject({
      name: 'none',
      secrets: [],
    });
  });
});

test.each([
  [['--no-verify', '--token', 'a']],
  [['--no-verify', '--scheme', 'github']],
  [['--token', 'a', '--secret', 'b']],
  [['--token', 'a', '--scheme', 'github']],
  [['--scheme', 'token', '--secret', 'b']],
  [['--secret', 'b']],
  [['--scheme', 'githib', '--secret', 'b']],
  [['--scheme', '{"scheme":"github","encoding":"base64"}', '--secret', 'b']],
  [['--scheme', '{"scheme":"github","tolerance":"1m"}', '--secret', 'b']],
  [['--scheme', '{"scheme":"token","tolerance":"1m"}', '--token', 'a']],
  [['--scheme', '{"scheme":"token","secretEncoding":"hex"}', '--token', 'a']],
])('flags that contradict each other are a usage error: %j', async (argv) => {
  await expect(resolve(argv)).rejects.toThrow(UsageError);
});

test.each([
  [['--token', '']],
  [['--token', ' blank ']],
  [['--token', 'a\nb']],
  [['--token-file', file('')]],
  [['--token-file', file('\n')]],
  [['--token-file', join(tmpdir(), 'leads-no-such-file')]],
  [['--scheme', 'github', '--secret', '']],
  [['--scheme', 'svix', '--secret', 'whsec_']],
  [['--scheme', 'svix', '--secret', 'whsec_not base64']],
  [['--scheme', 'custom', '--secret', 'a']],
  [['--scheme', '{"signatureHeader":"x-sig","signedContent":"x"}', '--secret', 'a']],
])('a secret or a custom scheme that cannot work is a configuration error: %j', async (argv) => {
  await expect(resolve(argv)).rejects.toThrow(ConfigError);
});

const message = { method: 'POST', url: 'https://a.example/', body: Buffer.from('{}'), id: 'n1' };
const whole = {
  signatureHeader: 'X-Sig',
  algorithm: 'hmac-sha512',
  encoding: 'base64',
  prefix: 'v1=',
  signedContent: '{timestamp}.{nonce}.{body}',
  timestampHeader: 'X-Time',
  timestampFormat: 'iso',
  nonceHeader: 'X-Id',
  secretEncoding: 'utf8',
  tolerance: '30s',
};
const json = JSON.stringify;

test.each([
  ['as JSON', json(whole)],
  ['as JSON with white space around it', `  ${json(whole, null, 2)}\n`],
  ['in a file', file(json(whole))],
])('every key of a scheme that is given %s has an effect', async (_, given) => {
  const { name, scheme } = await resolve(['--secret', 's', '--scheme', given]);
  expect([name, scheme.toleranceMs]).toEqual(['custom', 30_000]);
  const headers = Object.fromEntries(scheme.sign(message, scheme.key(secret), Date.UTC(2026, 0, 1)));
  expect(headers).toMatchObject({ 'x-id': 'n1', 'x-time': '2026-01-01T00:00:00.000Z' });
  expect(headers['x-sig']).toMatch(/^v1=[A-Za-z0-9+/]{86}==$/);
});

test('other schemes have keys of their own', async () => {
  const named = await resolve(['--token', 't', '--scheme', '{"scheme":"token","tokenHeader":"X-Key"}']);
  expect(named.scheme.sign(message, named.scheme.key(secret), 0)).toEqual([['x-key', 'stored-secret']]);
  const branded = json({ scheme: 'standard-webhooks', headerPrefix: 'Acme' });
  const { scheme } = await resolve(['--secret', 'whsec_AQIDBA==', '--scheme', branded]);
  expect(scheme.credentialHeaders).toEqual(['acme-signature', 'webhook-signature']);
});

test.each([
  ['no object', '{"a":1}'.slice(1)],
  ['a number', json({ signatureHeader: 'X-Sig', tolerance: 5 })],
  ['a value that does not exist', json({ signatureHeader: 'X-Sig', algorithm: 'md5' })],
  ['an empty text', json({ signatureHeader: '' })],
  ['an unknown scheme', json({ scheme: 'none' })],
  ['a key of another scheme', json({ scheme: 'stripe', headerPrefix: 'acme' })],
  ['no such file', '/no/such/file'],
])('a scheme that is %s is a usage error', async (_, given) => {
  await expect(resolve(['--secret', 's', '--scheme', given])).rejects.toThrow(UsageError);
});

test('a secret in a scheme is told where it belongs', async () => {
  const wrong = resolve(['--scheme', json({ signatureHeader: 'X-Sig', secret: 's3cret' })]);
  await expect(wrong).rejects.toMatchObject({
    message: "'secret' is no part of a scheme",
    hint: 'a secret is given by itself: it is no part of the scheme',
  });
});

test.each([
  ['token', 't', { scheme: 'token', tokenHeader: 'X Key' }],
  ['secret', 'whsec_AQIDBA==', { scheme: 'standard-webhooks', headerPrefix: 'a b' }],
  ['secret', 's', {}],
])('a scheme that cannot work is a configuration error: --%s %s %j', async (flag, given, scheme) => {
  await expect(resolve([`--${flag}`, given, '--scheme', json(scheme)])).rejects.toThrow(ConfigError);
});

describe('a scheme of the profile', () => {
  const stored = { webhookScheme: json(whole), webhookSecret: secret };

  it('is a name, JSON or a file, and goes behind a flag', async () => {
    expect((await resolve([], stored)).scheme.toleranceMs).toBe(30_000);
    const inFile = { ...stored, webhookScheme: file(json(whole)) };
    expect((await resolve([], inFile)).scheme.toleranceMs).toBe(30_000);
    const other = await resolve(['--scheme', '{"signatureHeader":"X-Other"}'], stored);
    expect(other.scheme.credentialHeaders).toEqual(['x-other']);
    expect((await resolve(['--scheme', 'github'], stored)).name).toBe('github');
    const stripe = { webhookScheme: '{"scheme":"stripe","tolerance":"1h"}', webhookSecret: secret };
    expect((await resolve(['--scheme', 'stripe'], stripe)).scheme.toleranceMs).toBe(3_600_000);
    await expect(resolve([], { ...stored, webhookScheme: '{"signatureheader":"x"}' })).rejects.toThrow(
      ConfigError,
    );
  });
});

describe('a time and a nonce beside the token', () => {
  const given = json({ scheme: 'token', timestampHeader: 'X-Time', nonceHeader: 'X-Nonce', tolerance: '5m' });

  it('are sent, and wanted', async () => {
    const { scheme } = await resolve(['--token', 't', '--scheme', given]);
    const key = scheme.key(new Secret('t'));
    const rawHeaders = scheme.sign(message, key, 1_800_000_000_000);
    expect(rawHeaders).toEqual([
      ['x-webhook-token', 't'],
      ['x-time', '1800000000'],
      ['x-nonce', 'n1'],
    ]);
    const check = (headers: typeof rawHeaders) =>
      scheme.authenticate({ ...message, path: '/', remote: '', receivedAt: 0, rawHeaders: headers }, [key]);
    expect(check(rawHeaders)).toEqual({ ok: true, key: 0, timestamp: 1_800_000_000_000, nonce: 'n1' });
    for (const [without, reason] of [
      [0, 'missing_credential'],
      [1, 'missing_timestamp'],
      [2, 'missing_nonce'],
    ] as const) {
      expect(check(rawHeaders.toSpliced(without, 1))).toMatchObject({ ok: false, reason });
    }
    expect(check(rawHeaders.with(1, ['x-time', 'soon']))).toMatchObject({ reason: 'malformed_timestamp' });
  });

  it('stand in headers of their own', async () => {
    const same = json({ scheme: 'token', timestampHeader: 'X-Time', nonceHeader: 'x-time' });
    const { exitCode, stderr } = await leads(['listen', '--token', 't', '--scheme', same]);
    expect([exitCode, stderr]).toEqual([
      3,
      'error: token, timestamp and nonce must come in headers of their own\n',
    ]);
  });

  it('has no form where there is no time', async () => {
    for (const beside of [{}, { nonceHeader: 'X-Nonce' }]) {
      const typed = json({ scheme: 'token', timestampFormat: 'unix', ...beside });
      await expect(resolve(['--token', 't', '--scheme', typed])).rejects.toThrow(ConfigError);
    }
  });
});

const broken = '{"scheme":"token", secret:"abc"}';

test.each([
  ['a secret inside', '{"scheme":"token","secret":"abc"}', "'secret' is no part of a scheme"],
  ['a misspelt key', '{"signatureheader":"X-Sig"}', "'signatureheader' is no part of a scheme"],
  ['broken JSON', broken, "webhook.scheme: the scheme is not JSON: unexpected 's' at byte 19"],
  ['JSON that is cut off', '{"secret":"abc', 'webhook.scheme: the scheme is not JSON: it ends too early'],
  ['an unknown name', 'githib', "'githib' is no scheme, and there is no such file"],
  ['a file that is not there', '/no/such/file', 'there is no such file'],
  ['a file that is no JSON', file('secret abc'), 'the scheme is not JSON'],
  ['a file with a list', file('["abc"]'), 'a scheme is a JSON object'],
  ['a scheme that cannot work', 'custom', 'needs the name of the header'],
  ['a tolerance without a time', '{"scheme":"github","tolerance":"1m"}', 'signs no time'],
])('what is %s is not stored as the scheme', async (_, given, sentence) => {
  const home = freshHome();
  const { exitCode, stderr } = await leads(['config', 'set', 'webhook.scheme', given], { home });
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(sentence)]);
  expect(stderr).not.toContain('abc');
  expect(existsSync(join(home, 'config', 'config.json'))).toBe(false);
});

test('a file is stored as the scheme with its whole path', async () => {
  const home = freshHome();
  const path = file('{"signatureHeader":"X-Sig"}');
  await leads(['config', 'set', 'webhook.scheme', relative('', path)], { home });
  expect((await leads(['config', 'get', 'webhook.scheme'], { home })).stdout).toBe(`${path}\n`);
});

test('help offers every scheme', () => {
  expect(new Set(schemeFlags('').scheme.type.choices)).toEqual(new Set(schemeNames));
});
