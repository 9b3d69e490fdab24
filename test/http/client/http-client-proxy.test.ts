import { once } from 'node:events';
import { createServer as createHttp } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { createHttpClient, type HttpClient } from '../../../src/http/client/http-client.ts';
import { TunnelError } from '../../../src/http/problems.ts';
import { sentenceOf } from '../../../src/messages/find-message.ts';
import { networkFailure, TransientError } from '../../../src/service/client/retry.ts';

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

/** A proxy on this machine; after ten connections it takes no more. */
async function proxyThat(answer: (socket: Socket) => unknown) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    if (sockets.length > 10) server.close();
    answer(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(async () => {
    for (const socket of sockets) socket.destroy();
    if (server.listening) await once(server.close(), 'close');
  });
  return { port: (server.address() as AddressInfo).port, sockets };
}

function clientThrough(port: number, timeoutMs = 300): HttpClient {
  const proxy = `http://127.0.0.1:${port}`;
  const env = { HTTPS_PROXY: proxy, HTTP_PROXY: proxy };
  const client = createHttpClient({ env, dataDir: undefined, timeoutMs });
  open.push(() => client.destroy());
  return client;
}

const afterRequest = (answer: (socket: Socket) => unknown) => (socket: Socket) =>
  socket.once('data', () => answer(socket));

describe('a proxy that opens no tunnel ends the request after one connection', () => {
  it.each<[string, (socket: Socket) => unknown, string]>([
    ['it closes at once', (socket) => socket.end(), 'the connection was closed'],
    ['it resets at once', (socket) => socket.resetAndDestroy(), 'the connection was reset'],
    ['it closes on CONNECT', afterRequest((socket) => socket.end()), 'the connection was closed'],
    [
      'it closes in its answer',
      afterRequest((socket) => socket.end('HTTP/1.1 20')),
      'the connection was closed',
    ],
    ['it never answers', () => undefined, 'no answer came in time'],
  ])('%s', async (_, answer, reason) => {
    const { port, sockets } = await proxyThat(answer);
    const client = clientThrough(port);
    for (const origin of ['https://service.example', 'http://service.example']) {
      const before = sockets.length;
      const error = await client.request({ origin, path: '/', method: 'GET' }).catch((e: unknown) => e);
      expect(sockets).toHaveLength(before + 1);
      expect(error).toBeInstanceOf(TunnelError);
      const failure = networkFailure(error, origin);
      expect(failure).toBeInstanceOf(TransientError);
      expect(sentenceOf(failure instanceof TransientError ? failure.failure : failure)).toContain(
        `cannot reach the proxy 127.0.0.1:${port}: ${reason}`,
      );
    }
  });

  it('it speaks no HTTP, which is not tried again', async () => {
    const { port, sockets } = await proxyThat(afterRequest((socket) => socket.end('no\r\n\r\n')));
    const client = clientThrough(port);
    const asked = client.request({ origin: 'https://service.example', path: '/', method: 'GET' });
    const failure = networkFailure(await asked.catch((e: unknown) => e), 'https://service.example');
    expect(failure).toMatchObject({ code: 'service_unavailable' });
    expect(sentenceOf(failure)).toMatch(/^cannot reach the proxy 127\.0\.0\.1:\d+: /);
    expect(sockets).toHaveLength(1);
  });
});

it('requests without TLS share one tunnel, too', async () => {
  const server = createHttp((request, response) =>
    response.end(`${request.headers.host ?? ''}${request.url ?? ''}`),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(() => (server.closeAllConnections(), once(server.close(), 'close')));
  const { port, sockets } = await proxyThat(
    afterRequest((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(connect((server.address() as AddressInfo).port, '127.0.0.1')).pipe(socket);
    }),
  );
  const client = clientThrough(port);
  for (const path of ['/one', '/two']) {
    const { body } = await client.request({ origin: 'http://service.example', path, method: 'GET' });
    expect(await text(body)).toBe(`service.example${path}`);
  }
  expect(sockets).toHaveLength(1);
});

it.each([
  [403, false],
  [503, true],
])('a proxy that answers %i to CONNECT refuses, which may pass: %s', async (status, mayPass) => {
  const { port, sockets } = await proxyThat(
    afterRequest((socket) => socket.end(`HTTP/1.1 ${status} No\r\n\r\n`)),
  );
  const asked = clientThrough(port).request({ origin: 'https://service.example', path: '/', method: 'GET' });
  const failure = networkFailure(await asked.catch((e: unknown) => e), 'https://service.example');
  expect(failure instanceof TransientError).toBe(mayPass);
  expect(sentenceOf(failure instanceof TransientError ? failure.failure : failure)).toContain(String(status));
  expect(sockets).toHaveLength(1);
});

it.each<[string, (socket: Socket) => unknown]>([
  ['the answer to CONNECT', () => undefined],
  ['TLS through the tunnel', (socket) => socket.write('HTTP/1.1 200 OK\r\n\r\n')],
])('a request that waits for %s ends with its signal, and so do the connections', async (_, answer) => {
  let heard: (socket: Socket) => void = () => undefined;
  const hearing = new Promise<Socket>((resolve) => (heard = resolve));
  const { port } = await proxyThat((socket) => {
    socket.once('data', () => {
      if (answer(socket) === undefined) heard(socket);
      else socket.once('data', () => heard(socket));
    });
  });
  const client = clientThrough(port, 600_000);
  const stop = new AbortController();
  const asked = client.request({
    origin: 'https://service.example',
    path: '/',
    method: 'GET',
    signal: stop.signal,
  });
  const socket = await hearing;
  stop.abort(new Error('Ctrl-C'));
  await expect(asked).rejects.toThrow('Ctrl-C');
  const closed = once(socket, 'close');
  await client.destroy();
  await closed;
});
