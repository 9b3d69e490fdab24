import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAgent } from '../../../src/http/client/agent.ts';
import type { HttpClient } from '../../../src/http/client/http-client.ts';
import { TunnelError } from '../../../src/http/errors.ts';
import { messageOf } from '../../../src/errors.ts';
import { networkFailure, TransientError } from '../../../src/service/client/network-failure.ts';
import { openPort } from '../../support/open-port.ts';

/** A proxy on this machine; after ten connections it takes no more. */
async function proxyThat(answer: (socket: Socket) => unknown) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    if (sockets.length > 10) server.close();
    answer(socket);
  });
  return { port: await openPort(server), sockets };
}

function agentThrough(port: number, timeoutMs = 300, user = ''): HttpClient {
  const proxy = `http://${user}127.0.0.1:${port}`;
  const env = { HTTPS_PROXY: proxy, HTTP_PROXY: proxy };
  const agent = createAgent({ env, dataDir: undefined, timeoutMs });
  onTestFinished(() => agent.destroy());
  return agent;
}

it.each([
  ['user:100%sure@', 'user:100%sure'],
  ['user:a%20b@', 'user:a b'],
  ['token@', 'token:'],
])('a proxy is told who asks: %s', async (user, told) => {
  let heard = '';
  const { port } = await proxyThat((socket) =>
    socket.once('data', (chunk: Buffer) => {
      heard = chunk.toString();
      socket.end('HTTP/1.1 407 No\r\n\r\n');
    }),
  );
  const agent = agentThrough(port, 5000, user);
  await agent.request({ origin: 'https://service.example', path: '/', method: 'GET' }).catch(() => undefined);
  const sent = /proxy-authorization: Basic (\S+)/i.exec(heard)?.[1] ?? '';
  expect(Buffer.from(sent, 'base64').toString()).toBe(told);
});

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
    const agent = agentThrough(port);
    const origin = 'https://service.example';
    const error = await agent.request({ origin, path: '/', method: 'GET' }).catch((e: unknown) => e);
    expect(sockets).toHaveLength(1);
    expect(error).toBeInstanceOf(TunnelError);
    const failure = networkFailure(error, origin);
    expect(failure).toBeInstanceOf(TransientError);
    expect(messageOf(failure instanceof TransientError ? failure.failure : failure)).toContain(
      `cannot reach the proxy 127.0.0.1:${port}: ${reason}`,
    );
  });

  it('it speaks no HTTP, which is not tried again', async () => {
    const { port, sockets } = await proxyThat(afterRequest((socket) => socket.end('no\r\n\r\n')));
    const agent = agentThrough(port);
    const asked = agent.request({ origin: 'https://service.example', path: '/', method: 'GET' });
    const failure = networkFailure(await asked.catch((e: unknown) => e), 'https://service.example');
    expect(failure).toMatchObject({ code: 'service_unavailable' });
    expect(messageOf(failure)).toMatch(/^cannot reach the proxy 127\.0\.0\.1:\d+: /);
    expect(sockets).toHaveLength(1);
  });
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
  const agent = agentThrough(port, 600_000);
  const stop = new AbortController();
  const asked = agent.request({
    origin: 'https://service.example',
    path: '/',
    method: 'GET',
    signal: stop.signal,
  });
  const socket = await hearing;
  stop.abort(new Error('Ctrl-C'));
  await expect(asked).rejects.toThrow('Ctrl-C');
  const closed = once(socket, 'close');
  await agent.destroy();
  await closed;
});
