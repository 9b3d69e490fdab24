import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import {
  createReceiver,
  memoryInbox,
  type ReceivedDelivery,
  type ReceiverOptions,
} from '../../../src/library/receiver.ts';
import { FakeClock } from '../../support/clock.ts';
import { until } from '../../support/until.ts';
import { serve } from './frameworks.ts';
import { post } from './post.ts';

const token = { 'x-webhook-token': 'a-token' };

async function start(more: Partial<ReceiverOptions> = {}) {
  const clock = new FakeClock();
  const deliveries: ReceivedDelivery[] = [];
  const receiver = createReceiver({
    scheme: 'token',
    secrets: 'a-token',
    inbox: memoryInbox(),
    onLead: () => undefined,
    onDelivery: (delivery) => deliveries.push(delivery),
    clock,
    ...more,
  });
  onTestFinished(() => receiver.close());
  return { receiver, clock, deliveries, url: await serve(receiver.node) };
}

/** Writes bytes, leaves the connection open, and gives what comes back. */
async function talk(url: string, bytes: string): Promise<{ received: () => string }> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  let text = '';
  socket.on('data', (piece: Buffer) => (text += piece.toString()));
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  socket.write(bytes);
  await until(() => socket.bytesWritten > 0);
  return { received: () => text };
}

const head = (more: string): string =>
  `POST /leads HTTP/1.1\r\nHost: app.test\r\nContent-Type: application/json\r\n${more}\r\n`;

test('a body over the limit is answered 413, declared or not, and the answer arrives', async () => {
  const { url, deliveries } = await start({ maxBodyBytes: 100 });
  const large = `{"id":"a","note":"${'x'.repeat(3_000_000)}"}`;
  expect(await post(url, large, token)).toMatchObject({ status: 413, body: { error: 'too_large' } });
  const chunk = 'x'.repeat(0x200);
  const { received } = await talk(
    url,
    `${head('Transfer-Encoding: chunked\r\nX-Webhook-Token: a-token\r\n')}200\r\n${chunk}\r\n`,
  );
  await until(() => received().includes('"too_large"'));
  expect(received()).toMatch(/^HTTP\/1.1 413 .*connection: close/is);
  expect(deliveries.map(({ reason, hint }) => [reason, hint])).toEqual([
    ['too_large', 'the body is larger than 100 bytes'],
    ['too_large', 'the body is larger than 100 bytes'],
  ]);
});

test('a body that does not end is answered 408', async () => {
  const { url, clock } = await start({ bodyTimeoutMs: 5000 });
  const { received } = await talk(url, `${head('Content-Length: 20\r\nX-Webhook-Token: a-token\r\n')}{"id`);
  await until(() => clock.sleeps.includes(5000));
  clock.advance(5000);
  await until(() => received().includes('"too_slow"'));
  expect(received()).toMatch(/^HTTP\/1.1 408 /);
});

test('a sender without a credential is refused before its body is complete', async () => {
  const { url } = await start();
  const { received } = await talk(url, `${head('Content-Length: 900000\r\n')}${'x'.repeat(40_000)}`);
  await until(() => received().includes('"missing_credential"'));
  expect(received()).toMatch(/^HTTP\/1.1 401 /);
});

test('a client that goes away in the middle is no error', async () => {
  const { url, deliveries, clock } = await start({ bodyTimeoutMs: 5000 });
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(`${head('Content-Length: 20\r\nX-Webhook-Token: a-token\r\n')}{"id`);
  await until(() => clock.sleeps.includes(5000));
  socket.destroy();
  await until(() => deliveries.length === 1);
  expect(deliveries[0]).toMatchObject({ verdict: 'rejected', reason: 'incomplete_body' });
});

test('a client that went away before its body was looked at is no error', async () => {
  const { receiver, deliveries } = await start();
  const url = await serve(async (request, response) => {
    request.socket.destroy();
    await until(() => request.destroyed);
    await receiver.node(request, response);
  });
  await expect(post(url, '{"id":"a"}'.padEnd(100_000), token)).rejects.toThrow();
  await until(() => deliveries.length === 1);
  expect(deliveries[0]).toMatchObject({ reason: 'incomplete_body' });
});

test('a request that somebody paused is read', async () => {
  const { receiver } = await start();
  const url = await serve((request, response) => receiver.node(request.pause(), response));
  expect(await post(url, '{"id":"a"}', token)).toMatchObject({ status: 200 });
});

test('all bodies together take no more than 32 MiB: the largest incomplete one has to go', async () => {
  const { url, deliveries, receiver } = await start({ maxBodyBytes: 64 * 1024 * 1024 });
  await receiver.ready();
  const { received } = await talk(
    url,
    `${head('Content-Length: 60000000\r\nX-Webhook-Token: a-token\r\n')}${'x'.repeat(40_000_000)}`,
  );
  await until(() => received().includes('"overloaded"'));
  expect(received()).toMatch(/^HTTP\/1.1 503 /);
  expect(deliveries).toMatchObject([{ reason: 'overloaded' }]);
});

test.each([
  ['two Host headers', 'Host: other.test\r\nContent-Length: 0\r\n', 400],
  ['too many headers', `${'X-A: b\r\n'.repeat(120)}Content-Length: 0\r\n`, 431],
])('%s: refused as by the CLI', async (_, headers, status) => {
  const { url } = await start();
  const { received } = await talk(url, head(headers));
  await until(() => received() !== '');
  expect(received()).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
});

test('method, path and content type are the CLI answers', async () => {
  const { receiver } = await start({ path: '/leads' });
  const ask = async (url: string, init: RequestInit): Promise<readonly unknown[]> => {
    const answer = await receiver.fetch(new Request(url, init));
    return [answer.status, ((await answer.json()) as { error?: string }).error, answer.headers.get('allow')];
  };
  const json = { ...token, 'content-type': 'application/json' };
  expect(await ask('https://a.test/leads', { method: 'GET', headers: json })).toEqual([
    405,
    'wrong_method',
    'POST',
  ]);
  expect(await ask('https://a.test/other', { method: 'POST', headers: json })).toEqual([
    404,
    'wrong_path',
    null,
  ]);
  const text = { ...token, 'content-type': 'text/plain' };
  expect(
    await ask('https://a.test/leads?a=b', { method: 'POST', headers: text, body: '{"id":"a"}' }),
  ).toEqual([415, 'wrong_content_type', null]);
  expect(await ask('https://a.test/leads', { method: 'POST', headers: json, body: '{"no":"id"}' })).toEqual([
    400,
    'not_a_lead',
    null,
  ]);
});
