import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createServer as createSecureServer } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { createPoster } from '../../../src/http/client/poster.ts';
import type { ConnectionOptions } from '../../../src/http/client/origin-connections.ts';
import { issueAuthority, issueServerCertificate } from '../../../src/tls/issue-certificate.ts';

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

type Answer = (socket: Socket, nth: number) => void;

/** A server of bare sockets: `answer` is called at the end of each request, `nth` of all from 1. */
async function serve(answer: Answer) {
  const sockets: Socket[] = [];
  let requests = 0;
  const server = createServer((socket) => {
    sockets.push(socket);
    let text = '';
    socket.on('error', () => undefined);
    socket.on('data', (piece) => {
      text += piece.toString('latin1');
      if (!text.endsWith('the end')) return;
      text = '';
      answer(socket, (requests += 1));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, sockets, requests: () => requests };
}

/** Posts one request and gives the status and body of the answer, or the code of the failure. */
function client(url: string, options: Partial<ConnectionOptions> = {}) {
  const poster = createPoster({ connections: 1, now: () => performance.now(), ...options });
  onTestFinished(() => poster.close());
  return {
    poster,
    post: async ({
      body = 'the end',
      timeoutMs = 10_000,
      signal,
    }: { body?: string; timeoutMs?: number; signal?: AbortSignal } = {}): Promise<string> => {
      const result = await poster.post({ url, headers: [], body: Buffer.from(body) }, { timeoutMs, signal });
      return result.ok ? `${result.status} ${result.body.toString()}` : result.code;
    },
  };
}

test('one connection carries one request after the other', async () => {
  const { url, sockets, requests } = await serve((socket) => socket.write(ok));
  const { post } = client(url);
  expect(await Promise.all([post(), post(), post()])).toEqual(['200 ok', '200 ok', '200 ok']);
  expect([sockets.length, requests()]).toEqual([1, 3]);
});

test('a connection that the server closed while it was idle is not used again', async () => {
  const { url, sockets } = await serve((socket) => socket.write(ok));
  const { post } = client(url);
  await post();
  sockets[0]?.end();
  await once(sockets[0] as Socket, 'close');
  expect([await post(), sockets.length]).toEqual(['200 ok', 2]);
});

test('a request is sent once, also where its connection is closed without an answer', async () => {
  const { url, requests } = await serve((socket, nth) => (nth === 2 ? socket.destroy() : socket.write(ok)));
  const { post } = client(url);
  expect([await post(), await post(), await post()]).toEqual(['200 ok', 'ECONNRESET', '200 ok']);
  expect(requests()).toBe(3);
});

test('a connection is not used any more a second before the server may close it', async () => {
  let now = 0;
  const { url, sockets } = await serve((socket, nth) =>
    socket.write(nth < 3 ? ok : ok.replace('\r\n', '\r\nKeep-Alive: timeout=60, max=5\r\n')),
  );
  const { post } = client(url, { now: () => now });
  const connectionsAt = async (time: number): Promise<number> => {
    now = time;
    await post();
    return sockets.length;
  };
  expect(await connectionsAt(0)).toBe(1);
  expect(await connectionsAt(3999)).toBe(1);
  expect(await connectionsAt(8000)).toBe(2);
  expect(await connectionsAt(66_000)).toBe(2);
  expect(await connectionsAt(125_000)).toBe(3);
});

test('what comes without a question is no answer to the next one', async () => {
  const { url, sockets } = await serve((socket) => socket.write(ok));
  const { post } = client(url);
  await post();
  sockets[0]?.write('HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n');
  await once(sockets[0] as Socket, 'close');
  expect([await post(), sockets.length]).toEqual(['200 ok', 2]);
});

test.each([
  ['two answers to one request', ok + ok],
  ['Connection: close', ok.replace('\r\n', '\r\nConnection: close\r\n')],
  ['HTTP/1.0', ok.replace('1.1', '1.0')],
])('%s: the next request has a connection of its own', async (_, text) => {
  const { url, sockets } = await serve((socket) => socket.write(text));
  const { post } = client(url);
  expect([await post(), await post(), sockets.length]).toEqual(['200 ok', '200 ok', 2]);
});

test('an answer that comes before the whole request was read counts, and ends the connection', async () => {
  const sockets: Socket[] = [];
  const early = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.pause();
      socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n');
    });
    sockets.push(socket);
  }).listen(0, '127.0.0.1');
  await once(early, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    early.close();
  });
  const { port } = early.address() as AddressInfo;
  const { post } = client(`http://127.0.0.1:${port}/`);
  const body = 'x'.repeat(20_000_000);
  expect([await post({ body }), await post({ body })]).toEqual(['413 ', '413 ']);
  expect(sockets.length).toBe(2);
});

test('an answer of which the end is missing is none', async () => {
  const { url } = await serve((socket, nth) =>
    socket.end(
      nth === 1 ? ok.slice(0, -1) : 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n',
    ),
  );
  const { post } = client(url);
  expect([await post(), await post()]).toEqual(['ECONNRESET', 'ECONNRESET']);
});

test('a request that is given up takes its connection with it, and those that wait go on', async () => {
  const { url, sockets } = await serve((socket, nth) => (nth === 1 ? undefined : socket.write(ok)));
  const { post } = client(url);
  const stop = new AbortController();
  const first = post({ timeoutMs: 100 });
  const waiting = post({ signal: stop.signal });
  const last = post();
  stop.abort();
  expect([await first, await waiting, await last, sockets.length]).toEqual([
    'timeout',
    'aborted',
    '200 ok',
    2,
  ]);
});

test('closing ends what is in flight and what waits', async () => {
  const { url } = await serve(() => undefined);
  const { poster, post } = client(url);
  const results = Promise.all([post(), post()]);
  poster.close();
  expect(await results).toEqual(['ECONNRESET', 'ECONNRESET']);
});

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'a host with the certificate of another one gets nothing, at the second time as at the first: %s',
  async (version) => {
    const authority = issueAuthority(['another.example', 'localhost'], Date.now());
    const { certPem: cert, keyPem: key } = issueServerCertificate(
      { certificate: new X509Certificate(authority.certPem), key: createPrivateKey(authority.keyPem) },
      ['another.example'],
      Date.now(),
    );
    let received = 0;
    const server = createSecureServer({ cert, key, minVersion: version, maxVersion: version }, (socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (piece: Buffer) => {
        received += piece.length;
        socket.write(ok);
      });
    }).listen(0);
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const { post } = client(`https://localhost:${port}/`, {
      trust: { authorities: [authority.certPem], insecure: false },
    });
    const mismatch = 'ERR_TLS_CERT_ALTNAME_INVALID';
    expect([await post(), await post(), await post()]).toEqual([mismatch, mismatch, mismatch]);
    expect(received).toBe(0);
  },
);
