import { createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { onRealTime, receiver, records, send, token } from './support.ts';

/** A receiver of a bare socket: `answer` writes what it wants once a request came. */
async function bare(answer: (socket: Socket) => void): Promise<string> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => answer(socket));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** Writes again and again until the socket is closed. */
function flood(socket: Socket, text: string): void {
  const piece = text.repeat(100);
  const write = (): void => {
    if (!socket.destroyed) socket.write(piece, () => setImmediate(write));
  };
  write();
}

test('a body of a gigabyte is cut off, and counts as an answer', async () => {
  const url = await bare((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n');
    flood(socket, 'x'.repeat(1000));
  });
  const run = await send(url, ['--json'], onRealTime);
  expect(run.exitCode).toBe(0);
  expect(run.stdout.length).toBeLessThan(5000);
});

test('a receiver that closes connections which it has not announced to close is told so', async () => {
  const url = await bare((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    socket.once('data', () => socket.destroy());
  });
  const run = await send(url, ['--sample', '2', '--concurrency', '1'], onRealTime);
  expect(run.exitCode).toBe(7);
  expect(run.stderr).toContain("has to say 'Connection: close'");
});

test('endless headers are no answer', async () => {
  const url = await bare((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    flood(socket, 'X-More: and more\r\n');
  });
  const run = await send(url, [], onRealTime);
  expect(run.exitCode).toBe(5);
  expect(run.stderr).toContain('the headers of its answer are too long');
});

test('a slow drip holds it no longer than --timeout', async () => {
  const url = await bare((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n');
    const drip = setInterval(() => socket.write('x'), 20);
    socket.on('close', () => clearInterval(drip));
  });
  const started = performance.now();
  const run = await send(url, ['--timeout', '300ms', '--json'], onRealTime);
  expect(performance.now() - started).toBeLessThan(5000);
  expect(records(run).summary.byStatus).toEqual({ timeout: 1 });
});

test('an interim answer does not disturb; of 100 Continue, which undici refuses, it is said', async () => {
  const after = async (head: string) => {
    const url = await bare((socket) =>
      socket.write(`HTTP/1.1 ${head}\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`),
    );
    return send(url, [], onRealTime);
  };
  expect((await after('103 Early Hints')).exitCode).toBe(0);
  const refused = await after('100 Continue');
  expect(refused.exitCode).toBe(5);
  expect(refused.stderr).toContain('it answered 100 Continue, which was not asked for');
});

test('what is no HTTP is said', async () => {
  const url = await bare((socket) => socket.end('SSH-2.0-OpenSSH\r\n\r\n'));
  const run = await send(url, [], onRealTime);
  expect(run.exitCode).toBe(5);
  expect(run.stderr).toContain('not HTTP');
});

test('nothing of an answer drives the terminal', async () => {
  const evil = '\x1b]52;c;aGk=\x07\x1b[2J\u202e\r\nsecond \x9b31m';
  const { url } = await receiver((_, response) => response.end(evil));
  for (const argv of [[], ['--json']]) {
    const { stdout } = await send(url, argv, { terminal: 80, env: { NO_COLOR: '1' } });

    expect(stdout).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
  }
});

test('a receiver that sends back what it got shows neither the secret nor the signature', async () => {
  const { url, received } = await receiver((request, response) =>
    response.writeHead(401).end(JSON.stringify(request.headers)),
  );
  const secret = 'a secret of the send tests';
  for (const argv of [[], ['--json'], ['--verbose']]) {
    const byToken = await send(url, argv);
    const signed = await send(url, ['--scheme', 'stripe', '--secret', secret, ...argv]);
    const signature = /v1=(\w+)/.exec(String(received.at(-1)?.headers['stripe-signature']))?.[1] ?? 'none';
    expect(signature).toHaveLength(64);
    for (const { stdout, stderr } of [byToken, signed]) {
      for (const hidden of [token, secret, signature]) expect(stdout + stderr).not.toContain(hidden);
    }
  }
});

test('a secret is not shown where the end of a long line cuts it', async () => {
  const { url } = await receiver((_, response) => response.end(`${'x'.repeat(990)}${token} and more`));
  for (const argv of [[], ['--json']]) {
    const { stdout } = await send(url, argv);
    expect(stdout).not.toContain(token.slice(0, 6));
    expect(stdout).toContain('…');
  }
});
