import { spawnSync } from 'node:child_process';
import { truncateSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/secret.ts';
import { schemeNamed } from '../../../src/webhook/scheme-registry.ts';
import { chromiumEntry, har } from '../../capture/har.ts';
import { FakeClock } from '../../support/clock.ts';
import { freshHome, leads } from '../../support/run.ts';
import { outgoing } from '../../webhook/delivery.ts';
import { cases, keyOf } from '../../webhook/schemes/every.ts';
import { listen, token } from '../listen/support.ts';
import { fileOf, hmac, secret, verify, shellWords } from './support.ts';

const received = Date.UTC(2026, 0, 15, 12, 0, 1);
const now = new FakeClock(received + 3 * 86_400_000);
const stripe = schemeNamed('stripe');
const message = outgoing();
const signed = (at = received - 2000) => stripe.sign(message, stripe.key(new Secret(secret)), at);
const flagsOf = (headers: readonly (readonly [string, string])[]): string[] =>
  headers.flatMap(([name, value]) => ['--header', `${name}: ${value}`]);
const browserHar = (at?: number): string => {
  const headers = [['content-type', 'application/json'], ...signed(at)].map(([name = '', value = '']) => ({
    name,
    value,
  }));
  return fileOf(
    har([
      chromiumEntry('https://hooks.example.com/', []),
      chromiumEntry(message.url, headers, Buffer.from(message.body).toString()),
    ]),
  );
};

describe('a delivery from a HAR of Chromium', () => {
  it('is genuine for the time when it was captured, and said to be stale by now', async () => {
    const { exitCode, document } = await verify([browserHar(), '--scheme', 'stripe', '--secret', secret], {
      clock: now,
    });
    expect(exitCode).toBe(0);
    expect(document).toMatchObject({
      ok: true,
      scheme: 'stripe',
      reason: null,
      at: new Date(received).toISOString(),
    });
    expect(document.checks.map(({ name, ok }) => [name, ok])).toEqual([
      ['header', true],
      ['signature', true],
      ['time', true],
      ['now', false],
    ]);
    expect(document.checks.at(-1)?.detail).toContain('3 days ago');
  });

  it('that was late when it came is not in time, and neither is one for a time that is asked for', async () => {
    const late = await verify([browserHar(received - 900_000), '--secret', secret], { clock: now });
    expect(late.exitCode).toBe(7);
    expect(late.document).toMatchObject({
      reason: 'stale_timestamp',
      wouldMatch: { fix: expect.stringMatching(/^--at 20\S+Z$/) as string },
    });
    const asked = await verify([browserHar(), '--secret', secret, '--at', 'now'], { clock: now });
    expect(asked.exitCode).toBe(7);
    const fix = asked.document.wouldMatch?.fix?.split(' ') ?? [];
    expect((await verify([browserHar(), '--secret', secret, ...fix], { clock: now })).exitCode).toBe(0);
    const tolerated = ['--scheme', '{"scheme":"stripe","tolerance":"4d"}'];
    const asLate = await verify([browserHar(), '--secret', secret, '--at', 'now', ...tolerated], {
      clock: now,
    });
    expect(asLate.exitCode).toBe(0);
  });
});

it('a delivery whose capture has no time is genuine though it is stale by now, which is said', async () => {
  const capture = ['--body', fileOf(message.body), ...flagsOf(signed())];
  const { exitCode, document } = await verify([...capture, '--secret', secret], { clock: now });
  expect(exitCode).toBe(0);
  expect(document.checks.at(-1)).toMatchObject({ name: 'now', ok: false });
});

it('a URL without a protocol is https, also where its query holds another URL', async () => {
  const square = cases.find(({ name }) => name === 'square');
  if (square === undefined) throw new Error('no scheme signs the URL');
  const url = 'https://hooks.example.com/leads?next=https://a.example';
  const headers = flagsOf(
    square.scheme.sign({ ...message, url }, keyOf(square.scheme, square.secret), received),
  );
  const typed = url.slice('https://'.length);
  const capture = ['--body', fileOf(message.body), '--url', typed, ...headers, ...square.flags];
  const { exitCode } = await verify([...capture, '--secret', square.secret], { clock: now });
  expect(exitCode).toBe(0);
});

it('a secret that stands in the capture itself is shown nowhere', async () => {
  const url = `https://hooks.example.com/${secret}?token=${encodeURIComponent(secret)}`;
  const raw = `POST ${url} HTTP/1.1\r\nHost: x\r\nx-${secret.replace('=', '')}-signature: ${secret}\r\nX-Webhook-Token: ${secret}!\r\n\r\n{}`;
  const broken = `POST / HTTP/1.1\r\nx-webhook-token ${secret}\r\n\r\n`;
  for (const content of [raw, broken]) {
    for (const words of [[], ['--json'], ['--verbose']]) {
      const { stdout, stderr } = await leads(['verify', fileOf(content), '--token', secret, ...words]);
      expect(stdout + stderr).not.toContain(secret);
      expect(stdout + stderr).not.toContain(encodeURIComponent(secret));
    }
  }
  const typed = await leads(['verify', '--header', `x-webhook-token ${secret}`, '--token', secret]);
  expect([typed.exitCode, typed.stderr.includes(secret)]).toEqual([2, false]);
});

const rawOf = (type: string, body: string): string =>
  `POST / HTTP/1.1\r\nContent-Type: ${type}\r\nx-webhook-token: ${secret}\r\n\r\n${body}`;

it.each([
  ['no id', rawOf('application/json', '{"name":"Ada"}'), /would still answer 400: there is no 'id'/],
  ['text', rawOf('text/plain', '{"id":"a","category":"solar"}'), /would still answer 415: /],
])('a genuine delivery that listen refuses all the same says so: %s', async (_, raw, says) => {
  const { exitCode, document } = await verify([fileOf(raw), '--token', secret]);
  expect([exitCode, document.ok]).toEqual([0, true]);
  expect(document.notes).toEqual([expect.stringMatching(says)]);
});

it('a genuine event without a lead gets no note where the setting accepts other events', async () => {
  const home = freshHome();
  await leads(['config', 'set', 'webhook.other-events', 'accept'], { home });
  const { document } = await verify(
    [fileOf(rawOf('application/json', '{"event":"ping"}')), '--token', secret],
    {
      home,
    },
  );
  expect([document.ok, document.notes]).toEqual([true, []]);
});

it('a lead that listen was told to take is found where it was told, and refused elsewhere', async () => {
  const body = '{"id":"evt","lead":{"id":"a","category":"solar"},"referrer":{"id":"b","category":"solar"}}';
  const capture = fileOf(rawOf('application/json', body));
  const notes = async (words: readonly string[]): Promise<readonly string[]> =>
    (await verify([capture, '--token', secret, ...words])).document.notes;
  expect(await notes([])).toContainEqual(expect.stringContaining('--lead-at /lead or --lead-at /referrer'));
  expect(await notes(['--lead-at', '/lead'])).toEqual([]);
  expect(await notes(['--lead-at', '/other'])).toContainEqual(
    expect.stringContaining('there is nothing at /other, where --lead-at says that the lead is'),
  );
});

describe('a delivery of the inbox', () => {
  it('is genuine once its credential, which the inbox does not keep, is given again', async () => {
    const listener = await listen(['--scheme', 'stripe', '--secret', secret]);
    const headers = stripe.sign(message, stripe.key(new Secret(secret)), listener.clock.now());
    const answer = await listener.post(Buffer.from(message.body), {
      'content-type': 'application/json',
      ...Object.fromEntries(headers),
    });
    expect(answer.status).toBe(200);
    await listener.stop();
    const { home, clock } = listener;
    const who = ['--scheme', 'stripe', '--secret', secret];
    const bare = await verify(['--id', '1', ...who], { home, clock });
    expect(bare.exitCode).toBe(6);
    expect(bare.document).toMatchObject({ ok: null, reason: 'withheld_credential' });
    expect(bare.document.checks.at(-1)).toMatchObject({ name: 'signature', ok: null });
    expect(bare.document.notes).toContainEqual(expect.stringContaining('accepted, 200'));
    expect(bare.stderr).toContain("--header 'stripe-signature: …'");
    for (const id of ['1', 'lead_1']) {
      const whole = await verify(['--id', id, ...flagsOf(headers), ...who], { home, clock });
      expect(whole.exitCode, whole.stdout).toBe(0);
      expect(whole.document.form).toBe('delivery 1 of the inbox');
    }
    const wrong = await verify(
      ['--id', '1', '--header', `stripe-signature: t=1,v1=${'0'.repeat(64)}`, ...who],
      { home, clock },
    );
    expect(wrong.exitCode).toBe(7);
    expect((await leads(['verify', '--id', '99', ...who], { home })).exitCode).toBe(7);
  });

  it.each(['reject', 'accept'])('says that its body was cut where other events are %sed', async (choice) => {
    const home = freshHome();
    await leads(['config', 'set', 'webhook.other-events', choice], { home });
    const listener = await listen([], { home });
    await listener.post({ type: 'invoice.paid', amount: 'x'.repeat(20_000) });
    await listener.stop();
    const { document } = await verify(['--id', '1', '--token', token], { home });
    expect(document.notes).toContainEqual(expect.stringMatching(/keeps only the first 16 KiB/));
  });

  it('says of a token only that one came', async () => {
    const listener = await listen();
    await listener.post({ id: 'lead_1', category: 'x' });
    await listener.stop();
    const { stdout, exitCode } = await leads(['verify', '--id', 'lead_1', '--token', token], {
      home: listener.home,
    });
    expect(exitCode).toBe(6);
    expect(stdout).toContain('x-webhook-token came');
    expect(stdout).toContain('left out of the capture: nothing here shows who sent it');
    expect(stdout).toContain('cannot be shown');
  });
});

describe('a capture from somebody hostile', () => {
  const run = (content: string | Uint8Array, ...words: string[]) =>
    leads(['verify', fileOf(content), '--token', token, ...words], { terminal: 80 });

  it('cannot drive the terminal', async () => {
    const esc = '\x1b]52;c;aGk=\x07\x1b[2J\u202e';
    const raw = `POST /\x9b31m HTTP/1.1\r\nHost: a${esc}b\r\nX-Webhook-Token: ${esc}\r\nX-Sig-a: 1\r\n\r\n{"${esc}":1}`;
    for (const words of [[], ['--json']]) {
      const argv = ['verify', fileOf(raw), '--token', token, ...words];
      const { stdout, stderr } = await leads(argv, { terminal: 80, env: { NO_COLOR: '1' } });
      expect(stdout + stderr).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
    }
  });

  it('of a gigabyte is not read to its end', async () => {
    const path = fileOf('POST / HTTP/1.1\r\n\r\n');
    truncateSync(path, 1024 ** 3);
    const { exitCode, stderr } = await leads(['verify', path, '--token', token]);
    expect(exitCode).toBe(6);
    expect(stderr).toContain('larger than 64 MiB');
  });

  it('with deep JSON, thousands of headers or thousands of requests is bounded', async () => {
    const deep = '['.repeat(200_000);
    expect((await run(deep)).exitCode).toBe(6);
    expect((await run(`POST / HTTP/1.1\r\nx-webhook-token: a\r\n\r\n${deep}`)).exitCode).toBe(7);
    const headers = Array.from({ length: 5000 }, (_, i) => `x-${i}: 1\r\n`).join('');
    const many = await run(`POST / HTTP/1.1\r\n${headers}\r\n`);
    expect([many.exitCode, many.stderr]).toEqual([6, expect.stringContaining('5000 headers')]);
    const entries = Array.from({ length: 5000 }, () => chromiumEntry('https://a.example/', [], '{}'));
    const ambiguous = await run(har(entries));
    expect(ambiguous.exitCode).toBe(2);
    expect(ambiguous.stderr.length).toBeLessThan(600);
  });

  it('of endless shell syntax is bounded', async () => {
    for (const part of ['$(', '`', '<<x|', "'", 'a|', '\\', '<']) {
      const { exitCode } = await run(`curl https://a.example/ ${part.repeat(1_000_000 / part.length)}`);
      expect([6, 7]).toContain(exitCode);
    }
    expect((await run(`POST /${'a'.repeat(100_000)} HTTP/1.1\r\nA: b\r\n\r\n`)).exitCode).toBe(6);
  });

  it('cannot make it read what never ends', async () => {
    const { exitCode, stderr } = await run(
      'curl -H "x-webhook-token: a" https://a.example/ --data-binary @/dev/zero',
    );
    expect([exitCode, stderr]).toEqual([6, expect.stringContaining('is no file')]);
  });

  it('cannot put a command into the fix', async () => {
    const name = "x-$(id)'`id`-signature";
    const { document } = await verify([
      '--body',
      fileOf('{}'),
      '--header',
      `${name.replace(/[()]/g, '')}: ${hmac('{}', secret).digest('hex')}`,
      ...['--scheme', 'github', '--secret', secret],
    ]);
    const fix = document.wouldMatch?.fix ?? '';
    const { stdout } = spawnSync('bash', ['--norc', '-c', `printf '%s\\n' ${fix}`]);
    expect(stdout.toString()).toContain(`"signatureHeader":"x-$id'\`id\`-signature"`);
  });
});

describe('what is wrong with the command line', () => {
  it.each([
    ['neither capture nor flags on a terminal', [], 2, 'no capture is named'],
    [
      'a file that is not there',
      ['nothing.har'],
      6,
      'cannot read the capture in nothing.har: there is no such file',
    ],
    ['--id with a file', ['--id', '1', 'x.har'], 2, '--id'],
    ['a header that is none', ['--header', 'nonsense'], 2, 'that is no header'],
    ['stdin twice', ['-', '--body', '-'], 2, 'stdin can be read only once'],
  ] as const)('%s', async (_, words, code, message) => {
    const { exitCode, stderr } = await leads(['verify', ...words, '--token', token], { terminal: 80 });
    expect([exitCode, stderr]).toEqual([code, expect.stringContaining(message)]);
  });

  it('a body that is missing where it is signed, and headers that are missing', async () => {
    const dump =
      '> POST /hook HTTP/1.1\r\n> Host: a.example\r\n> Content-Length: 5\r\n> stripe-signature: t=1,v1=2\r\n> \r\n';
    const bodiless = await leads(['verify', fileOf(dump), '--secret', secret]);
    expect([bodiless.exitCode, bodiless.stderr]).toEqual([6, expect.stringContaining('prints no body')]);
    const event =
      '{"type":"delivery","verdict":"accepted","receivedAt":"2026-01-15T12:00:00Z","lead":{"id":"1"}}';
    const headless = await leads(['verify', fileOf(event), '--token', token]);
    expect([headless.exitCode, headless.stderr]).toEqual([6, expect.stringContaining('holds no headers')]);
    const added = await leads([
      'verify',
      fileOf(event),
      '--token',
      token,
      '--header',
      `x-webhook-token: ${token}`,
    ]);
    expect([added.exitCode, added.stdout]).toEqual([0, expect.stringContaining('not the body as it came')]);
  });

  it('no secret at all, and one in the environment alone', async () => {
    const capture = fileOf(
      `POST / HTTP/1.1\r\nx-hub-signature-256: sha256=${hmac('{}', secret).digest('hex')}\r\n\r\n{}`,
    );
    const none = await leads(['verify', capture]);
    expect([none.exitCode, none.stderr]).toEqual([3, expect.stringContaining('LEADS_WEBHOOK_SECRET')]);
    const run = await verify([capture], { env: { LEADS_WEBHOOK_SECRET: secret } });
    expect([run.exitCode, run.document.scheme]).toEqual([0, 'github']);
  });

  it('a secret for a vendor that is not known is searched for without any scheme', async () => {
    const raw = `POST / HTTP/1.1\r\nx-acme-hash: ${hmac('{}', secret, 'sha512').digest('hex')}\r\n\r\n{}`;
    const run = await verify([fileOf(raw), '--secret', secret]);
    expect(run.exitCode).toBe(7);
    const fix = `--scheme '{"signatureHeader":"x-acme-hash","algorithm":"hmac-sha512"}'`;
    expect(run.document.wouldMatch?.fix).toBe(fix);
    expect(run.document.notes).toContainEqual(expect.stringContaining('--scheme'));
    expect((await verify([fileOf(raw), '--secret', secret, ...shellWords(fix, secret)])).exitCode).toBe(0);
  });

  it('stdin is read where no file is named', async () => {
    const stdin = `POST / HTTP/1.1\r\nx-webhook-token: ${token}\r\n\r\n{}`;
    expect((await leads(['verify', '--token', token], { stdin })).exitCode).toBe(0);
    expect((await leads(['verify', '-', '--token', token], { stdin })).exitCode).toBe(0);
  });
});

it('plain ASCII is drawn where the locale or TERM asks for it', async () => {
  const argv = ['verify', fileOf('POST / HTTP/1.1\r\nx-webhook-token: no\r\n\r\n{}'), '--token', token];
  for (const env of [{ LC_ALL: 'C' }, { LANG: 'POSIX' }, { TERM: 'dumb' }]) {
    const { stdout } = await leads(argv, { env });
    expect(stdout).toMatch(/^ok header/m);
    expect(stdout).toMatch(/^X {2}token/m);
    expect(stdout).not.toMatch(/[^\n -~]/);
  }
  expect((await leads(argv, { env: { LANG: 'en_US.UTF-8' } })).stdout).toMatch(/^✗ token/m);
});

it('refuses --entry 2 of a capture that is one request', async () => {
  const raw = fileOf('POST / HTTP/1.1\r\nHost: a\r\nx-webhook-token: s\r\n\r\n{"id":"1"}');
  const curl = fileOf('curl https://a/ -H \'x-webhook-token: s\' -d \'{"id":"1"}\'');
  const flags = ['--header', 'x-webhook-token: s', '--body', fileOf('{"id":"1"}')];
  for (const capture of [[raw], [curl], flags]) {
    expect((await leads(['verify', ...capture, '--token', 's', '--entry', '1'])).exitCode).toBe(0);
    const { exitCode, stderr } = await leads(['verify', ...capture, '--token', 's', '--entry', '2']);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('--entry 2: the capture holds 1')]);
  }
});
