import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start-sandbox.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { freshHome } from '../../support/run.ts';
import { listenInEachTest } from '../listen/support.ts';
import { receiver, records, send } from './support.ts';

const listen = listenInEachTest();

async function file(content: string | Buffer): Promise<string> {
  const path = join(freshHome(), 'leads.json');
  await writeFile(path, content);
  return path;
}

const pretty = '{\n  "id": "p-1",\n  "n": 1.50, "s": "\\u00e9"\n}';
const compact = '{"id":"c-1","n":12345678901234567890}';
const invalid = Buffer.concat([
  Buffer.from('{"id":"x-1","name":"'),
  Buffer.from([0xff, 0xfe, 0x80]),
  Buffer.from('"}'),
]);

test.each([
  ['one object', Buffer.from(`\ufeff${pretty}\n`), [pretty]],
  ['a line each', Buffer.from(`${compact}\r\n\n{"id":"d"}`), [compact, '{"id":"d"}']],
  ['an array', Buffer.from(`[${pretty}, ${compact}]`), [pretty, compact]],
  ['bytes that are not UTF-8', Buffer.concat([invalid, Buffer.from('\n')]), [invalid.toString('latin1')]],
])('--lead sends each record of a file in its own bytes: %s', async (_, content, expected) => {
  const { url, received } = await receiver();
  const run = await send(url, ['--lead', await file(content), '--concurrency', '1']);
  expect(run).toMatchObject({ exitCode: 0, stderr: '' });
  expect(received.map(({ body }) => body.toString('latin1'))).toEqual(expected);
});

test('--lead - reads stdin', async () => {
  const { url, received } = await receiver();
  await send(url, ['--lead', '-'], { stdin: compact });
  expect(received.map(({ body }) => String(body))).toEqual([compact]);
});

test.each([
  ['missing', undefined, /cannot read the leads.*there is no such file/],
  ['cut', '{"id":"a"}\n{"id":', /too early/],
  ['no JSON', '{"id":"a"}\n{"id":nope}', /lead 2 is not JSON/],
  ['no object', '{"id":"a"}\n"b"', /unexpected .* at byte 11/],
])('a file that is %s is exit 6; what stood before was sent', async (_, content, message) => {
  const { url, received } = await receiver();
  const path = content === undefined ? join(freshHome(), 'none') : await file(content);
  const run = await send(url, ['--lead', path, '--json']);
  expect(run.exitCode).toBe(6);
  expect(run.stderr).toMatch(message);
  expect(received).toHaveLength(content === undefined ? 0 : 1);
});

test('--set, --unset and --new-id change leads, and nothing else of them', async () => {
  const { url, received } = await receiver();
  const changes = [
    '--set',
    'contact.email=ann@example.com',
    '--set',
    'score=0.50',
    '--set',
    'tags=["a"]',
    '--unset',
    'n',
    '--unset',
    'none',
  ];
  const run = await send(url, [
    '--lead',
    await file(`{"id":"a","n":1,"big":12345678901234567890}`),
    ...changes,
  ]);
  expect(String(received[0]?.body)).toBe(
    '{"id":"a","big":12345678901234567890,"contact":{"email":"ann@example.com"},"score":0.50,"tags":["a"]}',
  );
  expect(run.stderr).toContain("--unset: there is no 'none'");
  const again = await send(url, [
    '--lead',
    await file('{"id":"a"}{"id":"b"}'),
    '--new-id',
    '--json',
    '--repeat',
    '2',
  ]);
  const ids = received.slice(1).map(({ body }) => (JSON.parse(String(body)) as { id: string }).id);
  expect([new Set(ids).size, ids.includes('a')]).toEqual([2, false]);
  expect(new Set(records(again).attempts.map(({ id }) => id))).toEqual(new Set(ids));
});

test('--id takes a lead from the service, or else as it was received, and sends nothing when one is nowhere', async () => {
  const sandbox = await startSandbox({ leads: 30, seed: 's' }, { clock: systemClock });
  const { url, received } = await receiver();
  const listener = await listen(['--token', 'token-of-the-tests']);
  await listener.post(pretty);
  const options = {
    home: listener.home,
    env: { LEADS_BASE_URL: sandbox.url, LEADS_API_KEY: sandbox.apiKey },
  };
  const known = sandbox.leads.at(3);
  try {
    const run = await send(
      url,
      ['--id', 'p-1', '--id', known?.id ?? '', '--json', '--concurrency', '1'],
      options,
    );
    expect(run).toMatchObject({ exitCode: 0, stderr: '' });
    expect(String(received[0]?.body)).toBe(pretty);
    expect((JSON.parse(String(received[1]?.body)) as { id: string }).id).toBe(known?.id);
    const missing = await send(url, ['--id', 'p-1', '--id', 'nowhere'], options);
    expect([missing.exitCode, received.length]).toEqual([7, 2]);
    expect(missing.stderr).toContain("no lead 'nowhere'");
  } finally {
    await sandbox.close();
  }
});

test('a lead that came among others is sent in its own bytes', async () => {
  const { url, received } = await receiver();
  const listener = await listen(['--token', 'token-of-the-tests', '--lead-at', '/data']);
  await listener.post('{"data": [{"id":"e-1"}, { "id" : "e-2", "n": 1.50 }]}');
  const options = { home: listener.home };
  await send(url, ['--id', 'e-2'], options);
  await send(url, ['--from', 'inbox', '--concurrency', '1'], options);
  expect(received.map(({ body }) => String(body))).toEqual([
    '{ "id" : "e-2", "n": 1.50 }',
    '{"id":"e-1"}',
    '{ "id" : "e-2", "n": 1.50 }',
  ]);
});

test('--from inbox and --from service send what the filters let through', async () => {
  const sandbox = await startSandbox({ leads: 200, seed: 's' }, { clock: systemClock });
  const { url, received } = await receiver();
  const listener = await listen(['--token', 'token-of-the-tests']);
  await listener.post({ id: 'a', category: 'solar' });
  await listener.post(' {"id":"b","category":"roofing"} ');
  const env = { LEADS_BASE_URL: sandbox.url, LEADS_API_KEY: sandbox.apiKey };
  try {
    await send(url, ['--from', 'inbox', '--category', 'roofing'], { home: listener.home });
    expect(received.map(({ body }) => String(body))).toEqual([' {"id":"b","category":"roofing"} ']);
    const run = await send(url, ['--from', 'service', '--category', 'solar', '--json'], { env });
    const wanted = [...sandbox.leads].filter(({ category }) => category === 'solar').map(({ id }) => id);
    expect(run.exitCode).toBe(0);
    expect(new Set(records(run).attempts.map(({ id }) => id))).toEqual(new Set(wanted));
    expect(records(run).summary.deliveries).toBe(wanted.length);
  } finally {
    await sandbox.close();
  }
});

test('--from inbox sends test leads to this machine, and to another one with --yes', async () => {
  const { url, received } = await receiver();
  const listener = await listen(['--token', 'token-of-the-tests']);
  const options = { home: listener.home };
  await listener.post({ id: 'leads-send-1' });
  const argv = ['--from', 'inbox', '--concurrency', '1'];
  const elsewhere = 'https://receiver.invalid/';
  // Where something was sent, this would end with 5.
  const alone = await send(elsewhere, argv, options);
  expect([alone.exitCode, alone.stderr]).toEqual([0, expect.stringContaining('there is no lead to send')]);
  const named = await send(elsewhere, ['--id', 'leads-send-1'], options);
  expect([named.exitCode, named.stderr]).toEqual([2, expect.stringContaining('which is another machine')]);
  await listener.post({ id: 'a' });
  await listener.post({ id: 'leads-check-1' });
  const shown = await send(elsewhere, [...argv, '--dry-run'], options);
  expect(shown.stdout.match(/"id":"[^"]+"/g)).toEqual(['"id":"a"']);
  expect(shown.stderr).toContain('note: 2 test leads are left out');
  const confirmed = await send(elsewhere, [...argv, '--dry-run', '--yes'], options);
  expect(confirmed.stdout.match(/"id":"[^"]+"/g)).toHaveLength(3);
  await send(url, argv, options);
  expect(received).toHaveLength(3);
});
