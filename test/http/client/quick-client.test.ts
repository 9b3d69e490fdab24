import { once } from 'node:events';
import { createServer as createHttp, type IncomingHttpHeaders } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LeadsError } from '../../../src/errors.ts';
import { createAgent } from '../../../src/http/client/agent.ts';
import type { HttpClient, HttpClientOptions } from '../../../src/http/client/http-client.ts';
import { createQuickClient } from '../../../src/http/client/quick-client.ts';
import { messageOf } from '../../../src/errors.ts';
import { networkFailure, TransientError } from '../../../src/service/client/network-failure.ts';
import { ensureAuthority } from '../../../src/tls/local-authority.ts';
import { openPort } from '../../support/open-port.ts';
import { freshHome } from '../../support/run.ts';

type Make = (options: HttpClientOptions) => HttpClient | Promise<HttpClient>;
const clients: readonly (readonly [string, Make])[] = [
  ['undici', createAgent],
  ['node', createQuickClient],
];

async function clientOf(make: Make, options: Partial<HttpClientOptions> = {}): Promise<HttpClient> {
  const client = await make({ env: {}, dataDir: freshHome(), timeoutMs: 5000, ...options });
  onTestFinished(() => client.destroy());
  return client;
}

/** A server on which each connection gets this as soon as it has asked. */
async function answering(answer: (socket: Socket) => unknown): Promise<string> {
  const server = createServer((socket) => socket.once('data', () => answer(socket)));
  return `http://127.0.0.1:${await openPort(server)}`;
}

async function read(client: HttpClient, origin: string): Promise<string> {
  const { status, statusText, rawHeaders, headers, body } = await client.request({
    origin,
    path: '/leads?limit=1',
    method: 'GET',
    headers: { accept: 'application/json' },
  });
  return JSON.stringify({ status, statusText, rawHeaders, headers, body: await text(body) });
}

/** What a person reads, and whether it is tried again. */
async function failureOf(asked: Promise<unknown>, origin: string) {
  const thrown: unknown = await asked.then(
    () => new Error('it did not fail'),
    (error: unknown) => error,
  );
  const failure = networkFailure(thrown, origin);
  const isTransient = failure instanceof TransientError;
  const known = isTransient ? failure.failure : failure;
  if (!(known instanceof LeadsError)) throw known;
  return { isTransient, code: known.code, sentence: messageOf(known) };
}

const cut = (head: string) => (socket: Socket) => socket.end(`HTTP/1.1 200 OK\r\n${head}`);
const longHeader = `x-long: ${'a'.repeat(20_000)}\r\n`;

describe('a server that breaks HTTP fails a request with either client', () => {
  const closed = /closed before the answer was complete/;
  const cutOff = /closed before the answer was complete|cut off/;
  it.each<[string, (socket: Socket) => unknown, RegExp]>([
    ['it closes at once', (socket) => socket.end(), closed],
    ['it resets at once', (socket) => socket.resetAndDestroy(), /the connection was reset/],
    ['it closes among the headers', cut('content-le'), closed],
    ['it cuts a counted body', cut('content-length: 9\r\n\r\n1234'), closed],
    ['it cuts a chunked body', cut('transfer-encoding: chunked\r\n\r\n9\r\n1234'), closed],
    [
      'it cuts a counted body after saying that it closes',
      cut('connection: close\r\ncontent-length: 9\r\n\r\n1234'),
      cutOff,
    ],
    [
      'it cuts a chunked body after saying that it closes',
      cut('connection: close\r\ntransfer-encoding: chunked\r\n\r\n9\r\n1234'),
      cutOff,
    ],
    ['it speaks something else', (socket) => socket.end('SSH-2.0-OpenSSH\r\n'), /in proper HTTP/],
    [
      'its Content-Length is no number',
      cut('content-length: 9x\r\n\r\n123456789'),
      /was cut off|in proper HTTP/,
    ],
    ['its headers are too long', cut(`${longHeader}\r\n`), /in proper HTTP: .*Header/],
    ['a chunk has no size', cut('transfer-encoding: chunked\r\n\r\nxyz\r\n'), /in proper HTTP/],
    [
      'it switches to another protocol',
      (s) => s.write('HTTP/1.1 101 S\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
      closed,
    ],
  ])('%s', async (_, answer, says) => {
    const origin = await answering(answer);
    for (const [, make] of clients) {
      const { sentence, isTransient } = await failureOf(read(await clientOf(make), origin), origin);
      expect(sentence).toMatch(says);
      expect(isTransient).toBe(!sentence.includes('in proper HTTP'));
    }
  });
});

describe('an answer is the same with either client', () => {
  it.each<[string, string]>([
    ['counted', 'content-length: 4\r\n\r\nbody'],
    ['chunked', 'Transfer-Encoding: chunked\r\n\r\n2;ext\r\nbo\r\n2\r\ndy\r\n0\r\nx-trailer: 1\r\n\r\n'],
    ['ended by the connection', 'connection: close\r\n\r\nbody'],
    [
      'headers more than once',
      'Link: <a>\r\nX-One: 1\r\nlink: <b>\r\nx-one: 2\r\nX-L: \xe4\r\ncontent-length: 0\r\n\r\n',
    ],
    ['more bytes than were counted', 'content-length: 4\r\nconnection: close\r\n\r\nbody'],
    ['thousands of headers', `${'a: \r\n'.repeat(2500)}content-length: 0\r\n\r\n`],
    ['a hint before it', 'content-length: 4\r\n\r\nbody'],
  ])('%s', async (name, rest) => {
    const hint = name === 'a hint before it' ? 'HTTP/1.1 103 Early Hints\r\nlink: <c>\r\n\r\n' : '';
    const origin = await answering((socket) =>
      socket.end(Buffer.from(`${hint}HTTP/1.1 200 Fine\r\n${rest}`, 'latin1')),
    );
    const answers: string[] = [];
    for (const [, make] of clients) answers.push(await read(await clientOf(make), origin));
    expect(answers[1]).toBe(answers[0]);
  });
});

it('the first request asks for what undici asks for', async () => {
  const asked: IncomingHttpHeaders[] = [];
  const server = createHttp((request, response) => {
    asked.push(request.headers);
    response.end();
  });
  const origin = `http://127.0.0.1:${await openPort(server)}`;
  for (const [, make] of clients) await read(await clientOf(make), origin);
  expect(asked[1]).toEqual(asked[0]);
});

describe('a time limit', () => {
  it.each<[string, (socket: Socket) => unknown, string]>([
    ['no header comes', () => undefined, 'no answer came in time'],
    ['headers drip', (socket) => drip(socket, 'HTTP/1.1 200 OK\r\nx: ', 'y'), 'no answer came in time'],
    [
      'a body stops',
      (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n1234'),
      'the answer stopped coming',
    ],
  ])('%s', async (_, answer, says) => {
    const origin = await answering(answer);
    const client = await clientOf(createQuickClient, { timeoutMs: 200 });
    const failure = await failureOf(read(client, origin), origin);
    expect(failure).toMatchObject({ isTransient: true, sentence: expect.stringContaining(says) as string });
  });

  it('does not end a TLS handshake that never ends sooner or later than a connection', async () => {
    const port = await openPort(createServer(() => undefined));
    const origin = `https://127.0.0.1:${port}`;
    const client = await clientOf(createQuickClient, { timeoutMs: 200 });
    expect(await failureOf(read(client, origin), origin)).toMatchObject({
      sentence: expect.stringContaining('the connection timed out') as string,
    });
  });

  it('counts from the last piece of a body, and not while nobody reads', async () => {
    const origin = await answering((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      let left = 8;
      const timer = setInterval(() => {
        left -= 1;
        socket.write(left > 0 ? '1\r\na\r\n' : '0\r\n\r\n');
        if (left === 0) clearInterval(timer);
      }, 60);
      onTestFinished(() => clearInterval(timer));
    });
    const client = await clientOf(createQuickClient, { timeoutMs: 200 });
    const { body } = await client.request({ origin, path: '/', method: 'GET' });
    expect(await text(body)).toBe('aaaaaaa');
  });
});

function drip(socket: Socket, beginning: string, rest: string): void {
  socket.write(beginning);
  const timer = setInterval(() => socket.write(rest), 50);
  onTestFinished(() => clearInterval(timer));
}

describe('a request that is given up', () => {
  it.each<[string, string | undefined]>([
    ['before its answer', undefined],
    ['within its body', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n1234'],
  ])('%s ends with the reason, and its connection ends', async (_, beginning) => {
    let heard: (socket: Socket) => void = () => undefined;
    const hearing = new Promise<Socket>((resolve) => (heard = resolve));
    const origin = await answering((socket) => {
      if (beginning !== undefined) socket.write(beginning);
      heard(socket);
    });
    const client = await clientOf(createQuickClient);
    const stop = new AbortController();
    const asked = client.request({ origin, path: '/', method: 'GET', signal: stop.signal });
    const socket = await hearing;
    const closed = once(socket, 'close');
    if (beginning === undefined) {
      stop.abort(new Error('Ctrl-C'));
      await expect(asked).rejects.toThrow('Ctrl-C');
    } else {
      const { body } = await asked;
      stop.abort(new Error('Ctrl-C'));
      await expect(text(body)).rejects.toThrow('Ctrl-C');
    }
    await closed;
  });

  it('ends with the time-out of a signal, whose code is a number', async () => {
    const origin = await answering(() => undefined);
    const client = await clientOf(createQuickClient);
    const asked = client.request({ origin, path: '/', method: 'GET', signal: AbortSignal.timeout(20) });
    await expect(asked).rejects.toMatchObject({ name: 'TimeoutError', code: DOMException.TIMEOUT_ERR });
  });

  it('is never sent under a signal that was aborted before', async () => {
    const client = await clientOf(createQuickClient);
    const signal = AbortSignal.abort(new Error('Ctrl-C'));
    const asked = client.request({ origin: 'http://127.0.0.1:1', path: '/', method: 'GET', signal });
    await expect(asked).rejects.toThrow('Ctrl-C');
  });

  it.each<[string, (client: HttpClient, asked: ReturnType<HttpClient['request']>) => Promise<unknown>]>([
    ['by its discarding', async (_, asked) => (await asked).discard()],
    ['by the end of the client', async (client, asked) => (await asked, client.destroy())],
    [
      'by whoever reads no further',
      async (_, asked) => {
        for await (const chunk of (await asked).body) if (chunk.length > 0) break;
      },
    ],
  ])('%s closes its connection', async (_, end) => {
    let closed: Promise<unknown> | undefined;
    const origin = await answering((socket) => {
      closed = once(socket, 'close');
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n1234');
    });
    const client = await clientOf(createQuickClient);
    await end(client, client.request({ origin, path: '/', method: 'GET' }));
    await closed;
  });
});

describe('https', () => {
  async function secureService(dataDir: string): Promise<string> {
    const { certPem, keyPem } = await ensureAuthority(dataDir, { now: Date.now });
    const server = createHttps({ cert: certPem, key: keyPem }, (_, response) => response.end('here'));
    return `https://localhost:${await openPort(server)}`;
  }

  it('trusts our own authority on this machine, and no other one, with either client', async () => {
    const dataDir = freshHome();
    const origin = await secureService(dataDir);
    for (const [, make] of clients) {
      for (const own of [origin, origin.replace('localhost', '127.0.0.1')])
        expect(await read(await clientOf(make, { dataDir }), own)).toContain('here');
    }
    const other = freshHome();
    await ensureAuthority(other, { now: Date.now });
    for (const distrusting of [freshHome(), other]) {
      const failures: object[] = [];
      for (const [, make] of clients) {
        const client = await clientOf(make, { dataDir: distrusting });
        failures.push(await failureOf(read(client, origin), origin));
      }
      expect(failures[1]).toEqual(failures[0]);
      expect(failures[1]).toMatchObject({ isTransient: false });
    }
  });
});

it('undici sends what comes after the first request, over connections that it keeps', async () => {
  const server = createHttp((_, response) => response.end('here'));
  let connections = 0;
  server.on('connection', () => (connections += 1));
  const origin = `http://127.0.0.1:${await openPort(server)}`;
  const client = await clientOf(createQuickClient);
  for (let i = 0; i < 6; i += 1) await read(client, origin);
  expect(connections).toBeLessThan(5);
});
