import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Secret } from '../../../src/secret.ts';
import { presets } from '../../../src/webhook/vendor-presets.ts';
import { bodyForms } from '../../../src/webhook/explain/body-forms.ts';
import {
  algorithms,
  encodings,
  type SchemeOptions,
  timestampFormats,
} from '../../../src/webhook/scheme-options.ts';
import { schemeNamed } from '../../../src/webhook/scheme-registry.ts';
import { sized } from '../../support/faults.ts';
import { FakeClock } from '../../support/clock.ts';
import { leads } from '../../support/run.ts';
import { fileOf, shellWords, withFix } from './support.ts';

const now = Date.UTC(2026, 0, 15, 12);
const secretEncodings = ['utf8', 'hex', 'base64', 'whsec'] as const;
const pem = ({ privateKey }: { readonly privateKey: KeyObject }): string =>
  privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

interface Side {
  readonly name: string;
  readonly options: SchemeOptions;
}

const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined, freq: 2 });

const header = fc.constantFrom(
  'x-acme-signature',
  'x-signature',
  'signature',
  'x-hub-signature-256',
  'x-sig',
);
const timeHeader = fc.constantFrom('x-time', 'x-acme-timestamp', 'webhook-timestamp', 'x-request-date');
const nonceHeader = fc.constantFrom('x-request-id', 'webhook-id', 'x-nonce', 'x-acme-delivery');

const contents = [
  ...[
    '{body}',
    '{path}{body}',
    '{url}{body}',
    '{method}{path}{body}',
    '{timestamp}.{body}',
    '{timestamp}:{body}',
  ],
  ...['v0:{timestamp}:{body}', String.raw`{timestamp}\n{body}`, '{body}{timestamp}', '{method} {body}'],
  ...['{id}.{body}', '{id}.{timestamp}.{body}', '{timestamp}.{id}.{body}', '{id}/{timestamp}/{body}'],
];

/** A recipe as a vendor may have made it up: some of them no search can find, and some no receiver can be told. */
const custom: fc.Arbitrary<Side> = fc
  .record({
    signatureHeader: header,
    signatureHeaders: maybe(fc.constantFrom('one', 'several')),
    algorithm: maybe(fc.constantFrom(...algorithms)),
    encoding: maybe(fc.constantFrom(...encodings)),
    prefix: maybe(fc.constantFrom('sha256=', 'v1=', 'v1,', 's:', 'Signature ', "it's=", 'é=', '\u0085')),
    separator: maybe(fc.constantFrom(',', ';', ' ', ', ')),
    content: fc.nat(),
    time: fc.constantFrom('none', 'header', 'inside'),
    timestampHeader: timeHeader,
    timestampPrefix: fc.constantFrom('t=', 'ts=', 'timestamp='),
    timestampFormat: maybe(fc.constantFrom(...timestampFormats)),
    nonceHeader: maybe(nonceHeader),
    secretEncoding: maybe(fc.constantFrom(...secretEncodings)),
    toleranceMs: maybe(fc.constant(3_600_000)),
  })
  .map(({ time, content, timestampHeader, timestampPrefix, ...parts }) => {
    const fitting = contents.filter(
      (text) =>
        text.includes('{timestamp}') === (time !== 'none') &&
        text.includes('{id}') === (parts.nonceHeader !== undefined),
    );
    const options = {
      ...parts,
      signedContent: fitting[content % fitting.length],
      ...(time === 'header' && { timestampHeader }),
      ...(time === 'inside' && { timestampPrefix }),
    };
    return { name: 'custom', options };
  });

const token: fc.Arbitrary<Side> = fc
  .record({
    tokenHeader: maybe(fc.constantFrom('x-api-token', 'authorization', 'x-webhook-token')),
    timestampHeader: maybe(timeHeader),
    nonceHeader: maybe(nonceHeader),
  })
  .map((options) => ({ name: 'token', options }));

const named: fc.Arbitrary<Side> = fc.oneof(
  fc.constantFrom(...presets.map(({ name }) => name)).map((name) => ({ name, options: {} })),
  fc.constantFrom('acme', 'svix', 'x-acme').map((headerPrefix) => ({
    name: 'standard-webhooks',
    options: { headerPrefix },
  })),
);

const side = fc.oneof(custom, custom, named, named, token);

const hexSecret = '00ff10aa00ff10aa41424344';
const secrets = [
  ...['correct horse', hexSecret, Buffer.from(hexSecret, 'hex').toString('base64'), '-_-_0123456789ab'],
  ...[
    'dGhpcyBpcyBhIHNlY3JldCE=',
    'dGhpcyBpcyBhIHNlY3JldA',
    `whsec_${Buffer.alloc(24, 7).toString('base64')}`,
  ],
  ...['it\'s "$HOME" `id` \\n', 'x-signature', pem(generateKeyPairSync('ed25519'))],
  pem(generateKeyPairSync('ec', { namedCurve: 'P-256' })),
  pem(generateKeyPairSync('rsa', { modulusLength: 2048 })),
];

/** How the receiver has the secret that the sender signs with. */
const secretChanges: readonly ((secret: string) => string)[] = [
  (secret) => secret,
  (secret) => secret,
  (secret) => `"${secret}"`,
  (secret) => `'${secret}'`,
  (secret) => `${secret}\n`,
  (secret) => ` ${secret}`,
  (secret) => secret.replace(/^whsec_/, ''),
  (secret) => `whsec_${secret}`,
  (secret) => `v1,${secret}`,
  (secret) => secret.replace(/\n$/, ''),
  (secret) => Buffer.from(secret).toString('base64'),
  (secret) => Buffer.from(secret).toString('base64url'),
  (secret) => Buffer.from(secret).toString('hex'),
  (secret) => Buffer.from(secret, 'hex').toString('base64'),
  (secret) => Buffer.from(secret, 'base64').toString('hex'),
];

type Headers = readonly (readonly [string, string])[];

/** What happened to the headers on their way, or in the sender's code. */
const headerChanges: readonly ((headers: Headers) => Headers)[] = [
  (headers) => headers,
  (headers) => headers,
  (headers) => headers.map(([name, value]) => [name, value.toUpperCase()]),
  (headers) => headers.map(([name, value]) => [name, /time|date/.test(name) ? `${value}000` : value]),
  (headers) => headers.map(([name, value]) => [name, `Bearer ${value}`]),
  (headers) => headers.map(([name, value]) => [name, `"${value}"`]),
  (headers) => headers.map(([name, value]) => [`x-other-${name}`, value]),
  (headers) => headers.flatMap((one) => [one, one]),
  (headers) => [...headers, ['x-signature', 'a'.repeat(64)], ['x-request-time', '1700000000']],
  (headers) => headers.map(([name, value]) => [name, `${value},${value}`]),
];

const bodies = [
  '{ "id": "lead_1", "name": "Zoë/é <b>", "score": 1.50, "big": 12345678901234567890 }',
  '{"id":"lead_1"}',
  '\ufeff{"id":"lead_1",\r\n"a":1}\r\n',
  'plain text\n',
  '"{\\"id\\":\\"lead_1\\"}"',
];

const urls = [
  'https://hooks.example.com/leads?a=b',
  'http://10.0.0.7:8443/leads?a=b',
  'https://10.0.0.7:8443/leads',
];

const situations = fc.record({
  sender: side,
  receiver: maybe(side),
  secret: fc.constantFrom(...secrets),
  change: fc.constantFrom(...secretChanges),
  headers: fc.constantFrom(...headerChanges),
  body: fc.constantFrom(...bodies),
  form: fc.option(fc.nat(), { nil: undefined, freq: 2 }),
  url: fc.constantFrom('same', ...urls),
  age: fc.constantFrom(0, 0, 0, 60_000, 7_200_000, -7_200_000),
  asksAt: fc.boolean(),
});

type Situation = typeof situations extends fc.Arbitrary<infer T> ? T : never;

/** The flags of a receiver. */
function flagsOf({ name, options: { toleranceMs, ...options } }: Side, secret: string): readonly string[] {
  const json = {
    scheme: name,
    ...options,
    ...(toleranceMs !== undefined && { tolerance: `${toleranceMs}ms` }),
  };
  return ['--scheme', JSON.stringify(json), name === 'token' ? '--token' : '--secret', secret];
}

/** The request as it came, as flags of `verify`; undefined where no sender could have sent it. */
function captured(one: Situation): readonly string[] | undefined {
  const { sender, secret, headers, form, url, age, asksAt } = one;
  const body = Buffer.from(one.body);
  const forms = bodyForms(body);
  const signed = form === undefined ? body : (forms[form % forms.length]?.bytes ?? body);
  let sent: Headers;
  try {
    const scheme = schemeNamed(sender.name, sender.options);
    const outgoing = { method: 'POST', url: urls[0] ?? '', body: signed, id: 'msg_1' };
    sent = scheme.sign(outgoing, scheme.key(new Secret(secret)), now - age);
  } catch {
    return undefined;
  }
  const given: Headers = [
    ...headers(sent),
    ...(url === 'same' ? [] : ([['x-forwarded-host', 'hooks.example.com']] as const)),
  ];
  return [
    ...['--body', fileOf(body, 'body'), '--url', url === 'same' ? (urls[0] ?? '') : url],
    ...given.flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
    ...(asksAt ? ['--at', new Date(now).toISOString()] : []),
  ];
}

const clock = new FakeClock(now, { hasty: true });

/** What `verify` prints behind `fix:`, after its words went through a shell and made the delivery genuine. */
async function workingFix(
  capture: readonly string[],
  who: readonly string[],
  given: string,
): Promise<string | undefined> {
  const { stdout } = await leads(['verify', ...capture, ...who], { clock });
  const fix = /^fix: (.*)$/m.exec(stdout)?.[1];
  if (fix === undefined) return undefined;
  const fixed = await leads(['verify', ...withFix(capture, who, shellWords(fix, given))], { clock });
  const text = `${JSON.stringify(who)}\n${stdout}\n${fixed.stdout}${fixed.stderr}`;
  expect([fixed.exitCode, /^genuine$/m.test(fixed.stdout)], text).toEqual([0, true]);
  return stdout;
}

it('every fix that is printed, of random schemes and what may happen to their deliveries, verifies in a shell', async () => {
  let printed = 0;
  const check = async (one: Situation): Promise<void> => {
    const capture = captured(one);
    if (capture === undefined) return;
    const given = one.change(one.secret);
    const fix = await workingFix(capture, flagsOf(one.receiver ?? one.sender, given), given);
    if (fix !== undefined) printed += 1;
  };
  const numRuns = sized(2500);
  await fc.assert(fc.asyncProperty(situations, check), { numRuns, seed: 27 });
  expect(printed).toBeGreaterThan(numRuns / 20);
}, 300_000);

const plain = (name: string, options: SchemeOptions = {}): Side => ({ name, options });
const genuine: Situation = {
  sender: plain('github'),
  receiver: undefined,
  secret: 'correct horse',
  change: (secret) => secret,
  headers: (headers) => headers,
  body: bodies[0] ?? '',
  form: undefined,
  url: 'same',
  age: 0,
  asksAt: true,
};

const forge = (change: (value: string) => string) => (headers: Headers) =>
  headers.map(([name, value]) => [name, change(value)] as const);

/** The sender signs with one, and the receiver was given the other. */
const secretsOf = (secret: string, given: string): Partial<Situation> => ({ secret, change: () => given });

const timed = (timestampFormat: 'unix' | 'milliseconds'): Side =>
  plain('custom', { signatureHeader: 'x-sig', timestampHeader: 'x-time', timestampFormat });

/** The findings with a fix that explained.test.ts has no case of. */
const findings: readonly (readonly [says: string, situation: Partial<Situation>])[] = [
  ['something in front changed it', { sender: plain('square'), url: 'http://10.0.0.7:8443/leads?a=b' }],
  [
    'with its headers named acme-…',
    {
      sender: plain('standard-webhooks', { headerPrefix: 'acme' }),
      receiver: plain('svix'),
      secret: secrets[6] ?? '',
    },
  ],
  [
    "behind a word such as 'Bearer'",
    { sender: plain('token'), headers: forge((value) => `Bearer ${value}`) },
  ],
  ['in double quotes', { sender: plain('token'), headers: forge((value) => `"${value}"`) }],
  ['in single quotes', { sender: plain('token'), headers: forge((value) => `'${value}'`) }],
  [
    'without the blanks at its ends',
    { sender: plain('token'), secret: 'correct', change: (secret) => ` cor rect${secret.slice(7)}` },
  ],
  ['without the quotes around it', secretsOf('correct horse', "'correct horse'")],
  ['holds a matching', { sender: plain('custom', { signatureHeader: 'x-a' }), receiver: plain('token') }],
  ['time is in seconds', { sender: timed('unix'), receiver: timed('milliseconds') }],
  ['its time is ahead', { sender: plain('stripe'), age: -7_200_000 }],
  ['under the scheme', { sender: plain('stripe'), receiver: plain('github'), age: 7_200_000 }],
];

it.each(findings)('the fix verifies in a shell: %s', async (says, situation) => {
  const one = { ...genuine, ...situation };
  const given = one.change(one.secret);
  const printed = await workingFix(captured(one) ?? [], flagsOf(one.receiver ?? one.sender, given), given);
  expect(printed).toContain(says);
});

it('on Windows, whose shells have no quotes in common, a fix that needs them is not printed', async () => {
  const fixOn = async (situation: Partial<Situation>): Promise<string | undefined> => {
    const one = { ...genuine, ...situation };
    const who = flagsOf(one.receiver ?? one.sender, one.change(one.secret));
    const argv = ['verify', ...(captured(one) ?? []), ...who];
    return /^fix: (.*)$/m.exec((await leads(argv, { clock, platform: 'win32' })).stdout)?.[1];
  };
  expect(await fixOn({ sender: plain('stripe'), age: 7_200_000 })).toBe('--at 2026-01-15T10:00:00.000Z');
  expect(await fixOn({ receiver: plain('slack') })).toBe('--scheme github');
  expect(await fixOn({ receiver: plain('token') })).toBeUndefined();
  expect(await fixOn(secretsOf('correct horse', '"correct horse"'))).toBeUndefined();
});
