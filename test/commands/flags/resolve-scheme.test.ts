import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it, test } from 'vitest';
import {
  algorithms,
  encodings,
  secretEncodings,
  timestampFormats,
} from '../../../src/webhook/scheme-options.ts';
import { resolveScheme } from '../../../src/commands/flags/resolve-scheme.ts';
import { schemeFlags, schemePartFlags } from '../../../src/commands/flags/scheme-flags.ts';
import type { Settings } from '../../../src/config/settings.ts';
import { ConfigError, UsageError } from '../../../src/errors.ts';
import { Secret } from '../../../src/secret.ts';
import { schemeNames } from '../../../src/webhook/presets.ts';
import { optionsOf } from '../../support/options.ts';

type Stored = Partial<
  Pick<Settings, 'webhookScheme' | 'webhookToken' | 'webhookSecret' | 'webhookCustom' | 'webhookParts'>
>;

/** Words as typed, through the declared flags. */
async function resolve(argv: readonly string[], stored: Stored = {}, stdin = '') {
  const options = await optionsOf({ ...schemeFlags('Who may deliver'), ...schemePartFlags }, argv);
  const { scheme, keys } = await resolveScheme(
    options,
    { webhookCustom: {}, webhookParts: {}, ...stored } as Settings,
    {
      stdin: Readable.from(stdin === '' ? [] : [stdin]),
    },
  );
  return { name: scheme.name, secrets: keys.map((key) => key.secret.reveal()), scheme };
}

const token = new Secret('stored-token');
const secret = new Secret('stored-secret');
const file = (text: string): string => {
  const path = join(mkdtempSync(join(tmpdir(), 'leads-scheme-')), 'secret');
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
  [['--scheme', 'github', '--secret', 'b', '--encoding', 'base64']],
  [['--scheme', 'github', '--secret', 'b', '--tolerance', '1m']],
  [['--token', 'a', '--tolerance', '1m']],
  [['--token', 'a', '--secret-encoding', 'hex']],
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
  [['--scheme', 'custom', '--secret', 'a', '--signature-header', 'x-sig', '--signed-content', 'x']],
])('a secret or a custom scheme that cannot work is a configuration error: %j', async (argv) => {
  await expect(resolve(argv)).rejects.toThrow(ConfigError);
});

test('every part of a custom scheme has an effect', async () => {
  const argv =
    '--scheme custom --secret s --signature-header X-Sig --algorithm hmac-sha512 --encoding base64 --prefix v1= ' +
    '--signed-content {timestamp}.{nonce}.{body} --timestamp-header X-Time --timestamp-format iso --nonce-header X-Id ' +
    '--secret-encoding utf8 --tolerance 30s';
  const { scheme } = await resolve(argv.split(' '));
  expect(scheme.toleranceMs).toBe(30_000);
  const key = scheme.key(secret);
  const message = { method: 'POST', url: 'https://a.example/', body: Buffer.from('{}'), id: 'n1' };
  const headers = Object.fromEntries(scheme.sign(message, key, Date.UTC(2026, 0, 1)));
  expect(headers).toMatchObject({ 'x-id': 'n1', 'x-time': '2026-01-01T00:00:00.000Z' });
  expect(headers['x-sig']).toMatch(/^v1=[A-Za-z0-9+/]{86}==$/);
});

test('a custom scheme may be stored, and a flag goes before each of its parts', async () => {
  const stored = {
    webhookScheme: 'custom',
    webhookSecret: secret,
    webhookCustom: { signatureHeader: 'X-Sig', prefix: 'v1=', timestampHeader: 'X-Time' },
    webhookParts: { tolerance: '30s' },
  };
  const signs = async (...argv: string[]) => {
    const { scheme } = await resolve(argv, stored);
    const message = { method: 'POST', url: 'https://a.example/', body: Buffer.from('{}'), id: 'n1' };
    return { scheme, headers: Object.fromEntries(scheme.sign(message, scheme.key(secret), 0)) };
  };
  const { scheme, headers } = await signs();
  expect(scheme.toleranceMs).toBe(30_000);
  expect(headers).toMatchObject({ 'x-time': '0', 'x-sig': expect.stringMatching(/^v1=/) as string });
  const other = await signs('--prefix', 'v2=', '--tolerance', '1m');
  expect(other.scheme.toleranceMs).toBe(60_000);
  expect(other.headers['x-sig']).toMatch(/^v2=/);
  for (const bad of [{ algorithm: 'md5' }, { signatureHeader: '' }]) {
    const webhookCustom = { ...stored.webhookCustom, ...bad };
    await expect(resolve([], { ...stored, webhookCustom })).rejects.toThrow(/webhook\.custom\./);
  }
  for (const webhookParts of [{ tolerance: 'soon' }, { require: 'a,,b' }]) {
    await expect(resolve([], { ...stored, webhookParts })).rejects.toThrow(/webhook\.(tolerance|require)/);
  }
  const github = { ...stored, webhookScheme: 'github' };
  expect(await resolve([], github)).toMatchObject({ name: 'github' });
});

test.each([
  { flag: schemeFlags('').scheme, all: schemeNames },
  { flag: schemePartFlags.algorithm, all: algorithms },
  { flag: schemePartFlags.encoding, all: encodings },
  { flag: schemePartFlags.timestampFormat, all: timestampFormats },
  { flag: schemePartFlags.secretEncoding, all: secretEncodings },
])('help offers everything that there is: $all', ({ flag, all }) => {
  expect(new Set(flag.type.choices)).toEqual(new Set(all));
});

const message = { method: 'POST', url: 'https://a.example/', body: Buffer.from('{}'), id: 'n1' };
const json = (value: unknown): string => file(JSON.stringify(value));

describe('a scheme in a file', () => {
  const parts = { signatureHeader: 'X-Sig', prefix: 'v1=', timestampPrefix: 't=', tolerance: '30s' };

  it('is custom by default, and a flag goes before each of its parts', async () => {
    const argv = ['--secret', 's', '--scheme-file', json(parts)];
    const { name, scheme } = await resolve(argv);
    expect(name).toBe('custom');
    expect(scheme.toleranceMs).toBe(30_000);
    const headers = Object.fromEntries(scheme.sign(message, scheme.key(secret), 5000));
    expect(headers['x-sig']).toMatch(/^t=5,v1=[0-9a-f]{64}$/);
    const other = await resolve([...argv, '--prefix', 'v2=', '--tolerance', '1m']);
    expect(other.scheme.toleranceMs).toBe(60_000);
    expect(other.scheme.sign(message, other.scheme.key(secret), 5000)[0]?.[1]).toMatch(/^t=5,v2=/);
  });

  it('may be another scheme, whose parts it names', async () => {
    const rfc = json({ scheme: 'rfc9421', require: 'digest,content-type' });
    expect(await resolve(['--secret', 's', '--scheme-file', rfc])).toMatchObject({ name: 'rfc9421' });
    const token = json({ scheme: 'token', tokenHeader: 'X-Key' });
    const { scheme } = await resolve(['--token', 't', '--scheme-file', token]);
    expect(scheme.credentialHeaders).toEqual(['x-key']);
  });

  it('stands alone: nothing of the profile is mixed into it', async () => {
    const stored = {
      webhookScheme: 'custom',
      webhookSecret: secret,
      webhookCustom: { timestampHeader: 'X-Time', encoding: 'base64' },
    };
    const path = json({ signatureHeader: 'X-Sig' });
    const { scheme } = await resolve(['--scheme-file', path], stored);
    const headers = scheme.sign(message, scheme.key(secret), 0);
    expect(headers).toEqual([['x-sig', expect.stringMatching(/^[0-9a-f]{64}$/)]]);
  });

  it.each([
    ['no object', ['a']],
    ['a number', { signatureHeader: 'X-Sig', tolerance: 5 }],
    ['a misspelt part', { signatureHeader: 'X-Sig', timestampheader: 'X-Time' }],
    ['a value that does not exist', { signatureHeader: 'X-Sig', algorithm: 'md5' }],
    ['an unknown scheme', { scheme: 'none' }],
    ['a secret', { signatureHeader: 'X-Sig', secret: 's' }],
    ['another file', { schemeFile: 'x.json' }],
    ['a part of another scheme', { scheme: 'github', encoding: 'base64' }],
    ['nothing that can be checked', {}],
  ])('is refused when it holds %s', async (_, value) => {
    await expect(resolve(['--secret', 's', '--scheme-file', json(value)])).rejects.toThrow(ConfigError);
  });

  it('is refused when it cannot be read, and next to flags that contradict it', async () => {
    const given = (...argv: string[]) => resolve(['--secret', 's', ...argv]);
    await expect(given('--scheme-file', file('{'))).rejects.toThrow(ConfigError);
    await expect(given('--scheme-file', '/no/such/file')).rejects.toThrow(ConfigError);
    await expect(given('--scheme', 'github', '--scheme-file', json(parts))).rejects.toThrow(UsageError);
    await expect(resolve(['--no-verify', '--scheme-file', json(parts)])).rejects.toThrow(UsageError);
    await expect(resolve(['--token', 't', '--scheme-file', json(parts)])).rejects.toThrow(UsageError);
  });
});

describe('parts of schemes that are not custom', () => {
  it('are taken from flags and from the profile', async () => {
    const own = await resolve(['--token', 't', '--token-header', 'X-Api-Token']);
    expect(own.scheme.sign(message, own.scheme.key(secret), 0)).toEqual([['x-api-token', 'stored-secret']]);
    const stored = await resolve(['--token', 't'], { webhookParts: { tokenHeader: 'X-Key' } });
    expect(stored.scheme.credentialHeaders).toEqual(['x-key']);
    const branded = await resolve([
      ...['--scheme', 'standard-webhooks', '--secret', 'whsec_AQIDBA=='],
      ...['--header-prefix', 'Acme'],
    ]);
    expect(branded.scheme.credentialHeaders).toEqual(['acme-signature', 'webhook-signature']);
  });

  it.each([
    ['--scheme github --secret s --token-header X-Key'],
    ['--scheme svix --secret whsec_AQIDBA== --header-prefix acme'],
    ['--scheme stripe --secret s --require digest'],
    ['--scheme rfc9421 --secret s --prefix v1='],
    ['--token t --require digest'],
  ])('are a usage error where they would be ignored: %s', async (argv) => {
    await expect(resolve(argv.split(' '))).rejects.toThrow(UsageError);
  });

  it.each([
    ['--token t --token-header', 'X Key'],
    ['--scheme rfc9421 --secret s --require', 'method,target'],
    ['--scheme standard-webhooks --secret whsec_AQIDBA== --header-prefix', 'a b'],
  ])('are a configuration error where they cannot work: %s %j', async (argv, value) => {
    await expect(resolve([...argv.split(' '), value])).rejects.toThrow(ConfigError);
  });
});
