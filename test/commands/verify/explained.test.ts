import { describe, expect, it } from 'vitest';
import { leads } from '../../support/run.ts';
import { fileOf, hmac, secret, shellWords, verify, withFix } from './support.ts';

interface Case {
  readonly title: string;
  /** Flags that say who sent it. */
  readonly who: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly more?: readonly string[];
  /** Part of the sentence. */
  readonly says: string | RegExp;
}

const body = String.raw`{ "id": "lead_1", "name": "Zoë/é <b>", "score": 1.50, "big": 1234567890123456789, "tags": [1, 2] }`;
const github = (content: string | Buffer, key: string | Buffer = secret) => ({
  'x-hub-signature-256': `sha256=${hmac(content, key).digest('hex')}`,
});
const githubCapture = (): string[] => [
  ...['--body', fileOf(body)],
  ...['--header', `x-hub-signature-256: ${github(body)['x-hub-signature-256']}`],
];
const as = (scheme: string, given = secret): string[] => ['--scheme', scheme, '--secret', given];
const time = 1_700_000_000;
const at = ['--at', new Date(time * 1000).toISOString()];
const whsec = `whsec_${Buffer.from('0123456789abcdef01234567').toString('base64')}`;
const bytesOf = (key: string): Buffer => Buffer.from(key.replace(/^whsec_/, ''), 'base64');
const standard = (key: string | Buffer, stamp = String(time)) => ({
  'webhook-id': 'msg_1',
  'webhook-timestamp': stamp,
  'webhook-signature': `v1,${hmac(`msg_1.${stamp}.${body}`, key).digest('base64')}`,
});

// As node and CPython wrote it when they had read the body; PHP and Go by the rules of their documentation.
const written = {
  'JSON.stringify': String.raw`{"id":"lead_1","name":"Zoë/é <b>","score":1.5,"big":1234567890123456800,"tags":[1,2]}`,
  Python: String.raw`{"id": "lead_1", "name": "Zo\u00eb/\u00e9 <b>", "score": 1.5, "big": 1234567890123456789, "tags": [1, 2]}`,
  'ensure_ascii=False': String.raw`{"id": "lead_1", "name": "Zoë/é <b>", "score": 1.5, "big": 1234567890123456789, "tags": [1, 2]}`,
  PHP: String.raw`{"id":"lead_1","name":"Zo\u00eb\/\u00e9 <b>","score":1.5,"big":1234567890123456789,"tags":[1,2]}`,
  Go: String.raw`{"id":"lead_1","name":"Zoë/é \u003cb\u003e","score":1.5,"big":1234567890123456800,"tags":[1,2]}`,
};

/** The sender signed with another form of the secret that was given. */
const secrets: readonly (readonly [says: string, given: string, signedWith: string | Buffer])[] = [
  ['with a line break at its end', 'piped-secret', 'piped-secret\n'],
  ['without the blanks at its ends', 'piped-secret\n', 'piped-secret'],
  ['without the quotes', '"quoted-secret"', 'quoted-secret'],
  ['decoded from base64', secret, Buffer.from(secret, 'base64')],
  ['decoded from hex', '00ff10aa00ff10aa', Buffer.from('00ff10aa00ff10aa', 'hex')],
];

/** The sender signed another form of the body that came. */
const bodies: readonly (readonly [says: string, signed: string, came: string])[] = [
  ...Object.entries(written).map(([says, signed]) => [says, signed, body] as const),
  ['with CR LF for LF', '{\r\n"id": "lead_1"\r\n}', '{\n"id": "lead_1"\n}'],
  ['with LF for CR LF', '{\n  "id": "lead_1"\n}', '{\r\n  "id": "lead_1"\r\n}'],
  ['without its byte order mark', '{"id":"lead_1"}', '\ufeff{"id":"lead_1"}'],
  ['with a byte order mark before it', `\ufeff${body}`, body],
  ['without its line break at the end', body, `${body}\n`],
  ['with a line break at its end', `${body}\n`, body],
];

const tokens: readonly (readonly [says: string, given: string, header: string])[] = [
  ['in the header x-api-token', secret, 'x-api-token'],
  ['without the quotes', `"${secret}"`, 'x-webhook-token'],
  ['without the blanks', `${secret}\n`, 'x-webhook-token'],
];

const stripe = (key: string, stamp = String(time)) => ({
  'stripe-signature': `t=${stamp},v1=${hmac(`${stamp}.${body}`, key).digest('hex')}`,
});

const cases: readonly Case[] = [
  ...secrets.map(([says, given, signedWith]) => ({
    title: `a secret that the sender has ${says}`,
    who: as('github', given),
    headers: github(body, signedWith),
    says,
  })),
  ...bodies.map(([says, signed, came]) => ({
    title: `a body that was signed ${says}`,
    who: as('github'),
    headers: github(signed),
    body: came,
    says,
  })),
  ...tokens.map(([says, given, header]) => ({
    title: `a token that came ${says}`,
    who: ['--token', given],
    headers: { [header]: secret },
    says,
  })),
  {
    title: 'a signature in base64 where hex belongs',
    who: as('github'),
    headers: { 'x-hub-signature-256': `sha256=${hmac(body, secret).digest('base64')}` },
    says: 'in base64',
  },
  {
    title: 'a signature in capital letters',
    who: as('github'),
    headers: { 'x-hub-signature-256': `SHA256=${hmac(body, secret).digest('hex').toUpperCase()}` },
    says: "behind 'SHA256='",
  },
  {
    title: 'whsec_ left on by the sender, who signs with the text',
    who: as('standard-webhooks', whsec),
    headers: standard(whsec),
    more: at,
    says: 'taken as text',
  },
  {
    title: 'whsec_ taken off by the sender, who signs with the rest as text',
    who: as('stripe', whsec),
    headers: stripe(whsec.slice(6)),
    more: at,
    says: "without its 'whsec_'",
  },
  {
    title: 'whsec_ missing in the secret that was given',
    who: as('stripe', whsec.slice(6)),
    headers: stripe(whsec),
    more: at,
    says: "with 'whsec_' before it",
  },
  {
    title: 'v1,whsec_ as some vendors show the secret',
    who: as('standard-webhooks', `v1,${whsec}`),
    headers: standard(bytesOf(whsec)),
    more: at,
    says: "without its 'v1,'",
  },
  {
    title: 'a time in milliseconds inside the signature header',
    who: as('stripe'),
    headers: stripe(secret, `${time}123`),
    more: at,
    says: /time is in milliseconds and was read as seconds/,
  },
  {
    title: 'a time in milliseconds in a header of its own',
    who: as('standard-webhooks', whsec),
    headers: standard(bytesOf(whsec), `${time}000`),
    more: at,
    says: /time is in milliseconds and was read as seconds/,
  },
  {
    title: 'another scheme with its time, while a token is expected',
    who: ['--token', whsec],
    headers: standard(bytesOf(whsec)),
    more: at,
    says: "under the scheme 'standard-webhooks', and the scheme here is 'token'",
  },
  {
    title: 'the secret sent as a token behind Bearer',
    who: as('github'),
    headers: { authorization: `Bearer ${secret}` },
    says: 'sent as a token',
  },
  {
    title: 'a genuine delivery that is stale at the time asked for',
    who: as('stripe'),
    headers: stripe(secret),
    more: ['--at', new Date(time * 1000 + 7_200_000).toISOString()],
    says: 'only its time is too old',
  },
];

const captureOf = ({ headers, body: own = body, more = [] }: Case): string[] => [
  '--body',
  fileOf(own, 'body'),
  ...Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
  ...more,
];

const expectedOf = ({ headers }: Case): readonly string[] =>
  Object.values(headers).flatMap((value) => value.match(/[A-Za-z0-9+/_-]{40,}={0,2}/g) ?? []);

describe('verify explains, with a fix that verifies when it is used:', () => {
  it.each(cases)('$title', async (one) => {
    const capture = captureOf(one);
    const given = one.who.at(-1) ?? '';
    const { exitCode, document, stdout, stderr } = await verify([...capture, ...one.who]);
    expect(exitCode, stderr).toBe(7);
    expect(document.ok).toBe(false);
    expect(document.wouldMatch?.what).toMatch(one.says);
    if (/made over/.test(document.wouldMatch?.what ?? '')) {
      expect(document.wouldMatch?.fix).toBeNull();
      return;
    }
    const fix = shellWords(document.wouldMatch?.fix ?? '', given);
    expect(fix.length).toBeGreaterThan(1);
    const fixed = await verify(withFix(capture, one.who, fix));
    expect(fixed.document, document.wouldMatch?.fix ?? '').toMatchObject({
      ok: true,
      reason: null,
      wouldMatch: null,
    });
    expect(fixed.exitCode).toBe(0);
    for (const part of [given.trim(), ...expectedOf(one)]) {
      expect(stdout + stderr + fixed.stdout + fixed.stderr).not.toContain(part);
    }
  });

  it('a token of the command line, by naming the variable that the fix reads where that is not set', async () => {
    const argv = [
      'verify',
      '--header',
      'x-webhook-token: secret',
      '--body',
      fileOf(body),
      '--token',
      'secret\n',
    ];
    const { stdout } = await leads(argv);
    expect(stdout).toMatch(
      /reads\s+LEADS_WEBHOOK_TOKEN,\s+which\s+is\s+not\s+set[^]*\(1\s+combination\s+tried\)\nfix: --token/,
    );
    const fromVariable = await leads(argv.slice(0, -2), { env: { LEADS_WEBHOOK_TOKEN: 'secret\n' } });
    expect(fromVariable.stdout).not.toContain('is not set');
  });

  it('an old secret among several', async () => {
    const { exitCode, document } = await verify([
      ...githubCapture(),
      ...as('github', 'the-new-secret'),
      '--secret',
      secret,
    ]);
    expect(exitCode).toBe(0);
    expect(document.checks.at(-1)?.detail).toContain('secret 2 of 2');
  });

  it('a wrong secret, by saying that nothing matches and how much was tried', async () => {
    const { exitCode, document } = await verify([...githubCapture(), ...as('github', 'another-secret')]);
    expect(exitCode).toBe(7);
    expect(document).toMatchObject({ ok: false, reason: 'wrong_credential', wouldMatch: null });
    expect(document.explanation).toContain('the sender has another secret');
    expect(document.tried).toBeGreaterThan(20);
    const right = await verify([...githubCapture(), ...as('github', 'another-secret'), '--secret', secret]);
    expect(right.exitCode).toBe(0);
  });

  it('a secret that the scheme cannot read and that matches in no form, as a matter of the configuration', async () => {
    const capture = [
      '--body',
      fileOf(body),
      ...Object.entries(standard('x')).flatMap(([n, v]) => ['--header', `${n}: ${v}`]),
    ];
    const { exitCode, stderr, stdout } = await verify([
      ...capture,
      ...as('standard-webhooks', 'not base64!'),
    ]);
    expect([exitCode, stdout]).toEqual([3, '']);
    expect(stderr).toContain('is not base64');
  });
});

describe('a vendor signed it, and the profile has a token', () => {
  const env = { LEADS_WEBHOOK_TOKEN: 's3cret' };
  const body = fileOf('{"id":"lead_1"}');
  const signedAs = (value: string): readonly string[] => [
    '--body',
    body,
    '--header',
    `X-Hub-Signature-256: ${value}`,
  ];

  it('says that a redacted signature cannot be checked, and what to do', async () => {
    const { exitCode, stdout, stderr } = await verify(signedAs('[redacted]'), { env });
    expect({ exitCode, stdout }).toEqual({ exitCode: 6, stdout: '' });
    expect(stderr).toContain('the capture does not hold the value of x-hub-signature-256');
    expect(stderr).toContain('leads listen --explain');
  });

  it('checks it as the vendor signs, with the secret of the vendor', async () => {
    const signature = `sha256=${hmac('{"id":"lead_1"}', secret).digest('hex')}`;
    const { exitCode, document } = await verify(signedAs(signature), {
      env: { ...env, LEADS_WEBHOOK_SECRET: secret },
    });
    expect({ exitCode, ok: document.ok, scheme: document.scheme }).toEqual({
      exitCode: 0,
      ok: true,
      scheme: 'github',
    });
  });

  it('checks the token where its own header came too', async () => {
    const both = [...signedAs('sha256=00'), '--header', 'X-Webhook-Token: s3cret'];
    const { exitCode, document } = await verify(both, { env });
    expect({ exitCode, scheme: document.scheme }).toEqual({ exitCode: 0, scheme: 'token' });
  });
});
