import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { createServer as createSecureServer } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { createPoster } from '../../../src/http/client/poster.ts';
import { trustIn } from '../../../src/http/client/trust.ts';
import { certificateFor } from '../../support/certificates.ts';
import { openPort } from '../../support/open-port.ts';

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

type Answer = (socket: Socket, nth: number) => void;

/** A server of bare sockets: `answer` is called at the end of each request, `nth` of all from 1. */
async function serve(answer: Answer) {
  const sockets: Socket[] = [];
  let requests = 0;
  const server = createServer((socket) => {
    sockets.push(socket);
    let text = '';
    socket.on('data', (piece) => {
      text += piece.toString('latin1');
      if (!text.endsWith('the end')) return;
      text = '';
      answer(socket, (requests += 1));
    });
  });
  return { url: `http://127.0.0.1:${await openPort(server)}/`, sockets, requests: () => requests };
}

/** Posts one request and gives the status and body of the answer, or the code of the failure. */
function client(url: string, options: Partial<Parameters<typeof createPoster>[0]> = {}) {
  const poster = createPoster({ connections: 1, timeoutMs: 10_000, ...options });
  onTestFinished(() => poster.close());
  return {
    poster,
    post: async (body = 'the end'): Promise<string> => {
      const result = await poster.post({ url, headers: [], body: Buffer.from(body) });
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
  ['a server that closes within a second', ok.replace('\r\n', '\r\nKeep-Alive: timeout=1\r\n')],
])('%s: the next request has a connection of its own', async (_, text) => {
  const { url, sockets } = await serve((socket) => socket.write(text));
  const { post } = client(url);
  expect([await post(), await post(), sockets.length]).toEqual(['200 ok', '200 ok', 2]);
});

test('an answer that comes before the whole request was read counts, and ends the connection', async () => {
  const sockets: Socket[] = [];
  const early = createServer((socket) => {
    socket.once('data', () => {
      socket.pause();
      socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n');
    });
    sockets.push(socket);
  });
  const { post } = client(`http://127.0.0.1:${await openPort(early)}/`);
  const body = 'x'.repeat(20_000_000);
  expect([await post(body), await post(body)]).toEqual(['413 ', '413 ']);
  expect(sockets.length).toBe(2);
});

const chunked = 'Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n';

test.each([
  ['a counted body', ok.slice(0, -1)],
  ['a chunked body', `HTTP/1.1 200 OK\r\n${chunked}`],
  ['a chunked body, after which the server closes', `HTTP/1.1 200 OK\r\nConnection: close\r\n${chunked}`],
])('an answer of which the end is missing is none: %s', async (_, text) => {
  const { url } = await serve((socket) => socket.end(text));
  expect(await client(url).post()).toBe('ECONNRESET');
});

test('headers are sent in the order, case and repetition in which they are given', async () => {
  const heads: string[] = [];
  const server = createServer((socket) =>
    socket.on('data', (piece: Buffer) => {
      heads.push(piece.toString('latin1'));
      socket.write(ok);
    }),
  );
  const port = await openPort(server);
  const url = `http://127.0.0.1:${port}/a?b=c`;
  const { poster } = client(url);
  const headers = [
    ['X-B', '1'],
    ['x-a', 'é'],
    ['X-b', '2'],
    ['X-B', '3'],
  ] as const;
  await poster.post({ url, headers, body: Buffer.from('the end') });
  await poster.post({ url, headers: [['Host', 'another.example']], body: Buffer.alloc(0) });
  const given = 'X-B: 1\r\nx-a: é\r\nX-b: 2\r\nX-B: 3\r\n';
  expect(heads).toEqual([
    `POST /a?b=c HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: keep-alive\r\n${given}content-length: 7\r\n\r\nthe end`,
    'POST /a?b=c HTTP/1.1\r\nhost: another.example\r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n',
  ]);
});

test('an interim answer is passed over, and of 100 Continue, which undici refuses, the code says so', async () => {
  const { url } = await serve((socket, nth) =>
    socket.write(`HTTP/1.1 ${nth === 1 ? '103 Early Hints\r\nLink: x' : '100 Continue'}\r\n\r\n${ok}`),
  );
  const { post } = client(url);
  expect([await post(), await post()]).toEqual(['200 ok', 'UNASKED_CONTINUE']);
});

test('an answer without a body is whole, whatever length its headers give', async () => {
  const { url } = await serve((socket) =>
    socket.write('HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n'),
  );
  expect(await client(url).post()).toBe('204 ');
});

test('nothing is sent after the poster was closed', async () => {
  const { url, requests } = await serve((socket) => socket.write(ok));
  const { poster, post } = client(url);
  poster.close();
  expect([await post(), requests()]).toEqual(['aborted', 0]);
});

test('of a long body 64 KiB are kept, and beyond 1 MiB nothing is awaited', async () => {
  const { url } = await serve((socket, nth) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n');
    socket.write(Buffer.alloc(nth === 1 ? 1 << 20 : (1 << 20) + 1, 'x'));
    if (nth === 1) socket.end();
  });
  const { post } = client(url);
  expect(await post()).toBe('ECONNRESET');
  expect(await post()).toBe(`200 ${'x'.repeat(65_536)}`);
});

test('a header that is sent more than once counts by its first value', async () => {
  const { url } = await serve((socket) => socket.write(ok.replace('\r\n', '\r\nX-A: 1\r\nx-a: 2\r\n')));
  const { poster } = client(url);
  const result = await poster.post({ url, headers: [], body: Buffer.from('the end') });
  expect(result).toMatchObject({ headers: { 'x-a': '1', 'content-length': '2' } });
});

test('a request whose time is up takes its connection with it, and what is posted later goes on', async () => {
  const { url, sockets } = await serve((socket, nth) => (nth === 1 ? drip(socket) : socket.write(ok)));
  const { post } = client(url, { timeoutMs: 200 });
  // The second one waits for the connection until its own time is up, and is never sent.
  expect(await Promise.all([post(), post()])).toEqual(['timeout', 'timeout']);
  expect([await post(), sockets.length]).toEqual(['200 ok', 2]);
});

/** Bytes that go on coming do not prolong the time. */
function drip(socket: Socket): void {
  socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n');
  const timer = setInterval(() => socket.write('x'), 20);
  socket.on('close', () => clearInterval(timer));
}

test.each([
  [
    'headers of more than 16 KiB',
    `HTTP/1.1 200 OK\r\n${'X-More: and more\r\n'.repeat(2000)}`,
    'HPE_HEADER_OVERFLOW',
  ],
  ['another protocol', 'SSH-2.0-OpenSSH\r\n\r\n', 'HPE_INVALID'],
])('no answer: %s', async (_, text, code) => {
  const { url } = await serve((socket) => socket.write(text));
  expect(await client(url).post()).toBe(code);
});

test('closing ends what is in flight and what waits', async () => {
  const { url } = await serve(() => undefined);
  const { poster, post } = client(url);
  const results = Promise.all([post(), post()]);
  poster.close();
  expect([...(await results), await post()]).toEqual(['aborted', 'aborted', 'aborted']);
});

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'a host with the certificate of another one gets nothing, at the second time as at the first: %s',
  async (version) => {
    const { cert, key, authority } = certificateFor(['another.example'], Date.now());
    let received = 0;
    const server = createSecureServer({ cert, key, minVersion: version, maxVersion: version }, (socket) => {
      socket.on('data', (piece: Buffer) => {
        received += piece.length;
        socket.write(ok);
      });
    });
    const { post } = client(`https://localhost:${await openPort(server)}/`, { trust: trustIn(authority) });
    const mismatch = 'ERR_TLS_CERT_ALTNAME_INVALID';
    expect([await post(), await post(), await post()]).toEqual([mismatch, mismatch, mismatch]);
    expect(received).toBe(0);
  },
);
