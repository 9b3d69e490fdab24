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

const cases: readonly Case[] = [
  {
    title: 'a secret with a line break at its end',
    who: as('github', 'piped-secret'),
    headers: github(body, 'piped-secret\n'),
    says: 'with a line break at its end',
  },
  {
    title: 'a secret that was given with a line break',
    who: as('github', 'piped-secret\n'),
    headers: github(body, 'piped-secret'),
    says: 'without the blanks at its ends',
  },
  {
    title: 'a secret that was given in quotes',
    who: as('github', '"quoted-secret"'),
    headers: github(body, 'quoted-secret'),
    says: 'without the quotes',
  },
  {
    title: 'a secret in base64 that the sender decodes',
    who: as('github'),
    headers: github(body, Buffer.from(secret, 'base64')),
    says: 'decoded from base64',
  },
  {
    title: 'a secret in hex that the sender decodes',
    who: as('github', '00ff10aa00ff10aa'),
    headers: github(body, Buffer.from('00ff10aa00ff10aa', 'hex')),
    says: 'decoded from hex',
  },
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
    headers: { 'stripe-signature': `t=${time},v1=${hmac(`${time}.${body}`, whsec.slice(6)).digest('hex')}` },
    more: at,
    says: "without its 'whsec_'",
  },
  {
    title: 'whsec_ missing in the secret that was given',
    who: as('stripe', whsec.slice(6)),
    headers: { 'stripe-signature': `t=${time},v1=${hmac(`${time}.${body}`, whsec).digest('hex')}` },
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
  ...Object.entries(written).map(([says, content]) => ({
    title: `a body that was written again: ${says}`,
    who: as('github'),
    headers: github(content),
    says,
  })),
  {
    title: 'CR LF for LF',
    who: as('github'),
    headers: github('{\r\n"id": "lead_1"\r\n}'),
    body: '{\n"id": "lead_1"\n}',
    says: 'with CR LF for LF',
  },
  {
    title: 'LF for CR LF',
    who: as('github'),
    headers: github('{\n"id": "lead_1"\n}'),
    body: '{\r\n"id": "lead_1"\r\n}',
    says: 'with LF for CR LF',
  },
  {
    title: 'a byte order mark that was added',
    who: as('github'),
    headers: github(body),
    body: `\ufeff${body}`,
    says: 'without its byte order mark',
  },
  {
    title: 'LF for CR LF in JSON that is indented',
    who: as('github'),
    headers: github('{\n  "id": "lead_1"\n}'),
    body: '{\r\n  "id": "lead_1"\r\n}',
    says: 'with LF for CR LF',
  },
  {
    title: 'a byte order mark that was added to JSON without white space',
    who: as('github'),
    headers: github('{"id":"lead_1"}'),
    body: '\ufeff{"id":"lead_1"}',
    says: 'without its byte order mark',
  },
  {
    title: 'a byte order mark that was lost',
    who: as('github'),
    headers: github(`\ufeff${body}`),
    says: 'with a byte order mark before it',
  },
  {
    title: 'a line break that was added',
    who: as('github'),
    headers: github(body),
    body: `${body}\n`,
    says: 'without its line break at the end',
  },
  {
    title: 'a line break that was lost',
    who: as('github'),
    headers: github(`${body}\n`),
    says: 'with a line break at its end',
  },
  {
    title: 'a time in milliseconds inside the signature header',
    who: as('stripe'),
    headers: { 'stripe-signature': `t=${time}123,v1=${hmac(`${time}123.${body}`, secret).digest('hex')}` },
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
    title: 'another scheme, while a token is expected',
    who: ['--token', secret],
    headers: github(body),
    says: "under the scheme 'github', and the scheme here is 'token'",
  },
  {
    title: 'another scheme with its time',
    who: as('github', whsec),
    headers: standard(bytesOf(whsec)),
    more: at,
    says: "under the scheme 'standard-webhooks'",
  },
  {
    title: 'the secret sent as a token behind Bearer',
    who: as('github'),
    headers: { authorization: `Bearer ${secret}` },
    says: 'sent as a token',
  },
  {
    title: 'a token in another header',
    who: ['--token', secret],
    headers: { 'x-api-token': secret },
    says: 'in the header x-api-token',
  },
  {
    title: 'a token that was given in quotes',
    who: ['--token', `"${secret}"`],
    headers: { 'x-webhook-token': secret },
    says: 'without the quotes',
  },
  {
    title: 'a token that was given with a line break',
    who: ['--token', `${secret}\n`],
    headers: { 'x-webhook-token': secret },
    says: 'without the blanks',
  },
  {
    title: 'a genuine delivery that is stale at the time asked for',
    who: as('stripe'),
    headers: { 'stripe-signature': `t=${time},v1=${hmac(`${time}.${body}`, secret).digest('hex')}` },
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
