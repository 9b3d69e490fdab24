import { execa } from 'execa';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/time/clock.ts';
import { freshHome } from '../../support/run.ts';
import { listenInEachTest } from '../listen/support.ts';
import { receiver, send, token } from './support.ts';

const listen = listenInEachTest();

test('the command, pasted into a shell, delivers a body with quotes, line breaks and bytes outside UTF-8', async () => {
  const { url, received } = await receiver();
  const bodies = [
    Buffer.from(`{"id":"q","note":"it's \\"quoted\\" $HOME \`id\` !!"}`),
    Buffer.from('{\r\n\t"id": "lines"\n}'),
    Buffer.concat([Buffer.from('{"id":"x","n":"'), Buffer.from([0xff, 0x80, 0xfe]), Buffer.from('"}')]),
  ];
  for (const body of bodies) {
    const file = join(freshHome(), 'lead.json');
    await writeFile(file, body);
    const printed = await send(url, ['--lead', file, '--dry-run']);
    expect(printed.stdout).not.toContain(token);
    await execa('bash', { input: printed.stdout, env: { LEADS_WEBHOOK_TOKEN: token } });
    expect(received.at(-1)?.body.equals(body)).toBe(true);
    expect(received.at(-1)?.headers['x-webhook-token']).toBe(token);
  }
  expect(received).toHaveLength(3);
});

test('listen accepts the pasted command of a signed delivery, and stderr says until when', async () => {
  const signed = ['--scheme', 'standard-webhooks', '--secret', 'whsec_c2VjcmV0IG9mIHRoZSBzZW5kIHRlc3Rz'];
  const listener = await listen([...signed, '--inbox', ':memory:'], { clock: systemClock });
  const run = await send(listener.url, [...signed, '--sample', '2', '--dry-run'], {
    home: listener.home,
    clock: systemClock,
  });
  expect(run.stdout.trimEnd().split('\n')).toHaveLength(2);
  expect(run.stderr).toMatch(/fresh until \d{4}-\d\d-\d\dT.*Z, for 5m 0s/);
  const pasted = await execa('bash', { input: run.stdout });
  expect(pasted.stdout.match(/"status":"accepted"/g)).toHaveLength(2);
});

test.each([
  ['a time', { timestampHeader: 'x-time', tolerance: '2m' }, /the token; .*fresh until \d{4}-.*Z, for 2m 0s/],
  ['a nonce', { nonceHeader: 'x-nonce' }, /the token; it does not expire/],
])('stderr says of a token with %s beside it until when it is taken', async (_, beside, validity) => {
  const { url } = await receiver();
  const scheme = JSON.stringify({ scheme: 'token', ...beside });
  expect((await send(url, ['--token', token, '--scheme', scheme, '--dry-run'])).stderr).toMatch(validity);
});

test('--dry-run=http is the request as it would be sent, the secret named by its variable, and nothing is sent', async () => {
  const { url, received } = await receiver();
  const file = join(freshHome(), 'lead.json');
  await writeFile(file, '{"id":"a"}');
  const run = await send(url, ['--lead', file, '--dry-run=http', '--header', 'X-More: 1']);
  const { host } = new URL(url);
  expect(run.stdout).toBe(
    [
      ...['POST /hook HTTP/1.1', `Host: ${host}`, 'Content-Type: application/json'],
      ...[
        'x-webhook-token: $LEADS_WEBHOOK_TOKEN',
        'X-More: 1',
        'Content-Length: 10',
        '',
        '{"id":"a"}',
        '',
        '',
      ],
    ].join('\r\n'),
  );
  expect([run.exitCode, received.length]).toEqual([0, 0]);
});

test('a dry run for another machine needs no --yes', async () => {
  const run = await send('https://receiver.invalid/hook', ['--dry-run']);
  expect(run.exitCode).toBe(0);
  expect(run.stdout).toMatch(/^curl -i https:\/\/receiver.invalid\/hook /);
});
