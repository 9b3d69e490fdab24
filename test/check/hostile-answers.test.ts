import { createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { leads } from '../support/run.ts';
import { hurriedClock } from './support.ts';
import { openServer } from '../support/open-server.ts';

/** A receiver that says what it wants once a request's head has come. */
async function serveBytes(answer: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => answer(socket));
  });
  const opened = await openServer(server);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `${opened.url}/`;
}

const run = (url: string, argv: readonly string[] = []) =>
  leads(['check', url, '--token', 'a-token', '--timeout', '300ms', ...argv], {
    clock: hurriedClock,
    terminal: 80,
    env: { PATH: process.env['PATH'] ?? '', NO_COLOR: '1', LANG: 'C.UTF-8' },
  });

/** Writes until the other side has gone. */
function flood(socket: Socket, chunk: string, everyMs?: number): void {
  const next = (): void => {
    if (socket.destroyed) return;
    if (everyMs !== undefined) setTimeout(next, everyMs);
    else if (socket.writableNeedDrain) {
      socket.once('drain', next);
      return;
    } else setImmediate(next);
    socket.write(chunk);
  };
  next();
}

const head = (status: string, headers = ''): string => `HTTP/1.1 ${status}\r\n${headers}\r\n`;

test('nothing of an answer drives the terminal, in any form of output', async () => {
  const evil = '\u001b]0;title\u0007\u001b[2J\u202e\r::error::x\u009b31m';
  const url = await serveBytes((socket) => socket.end(`${head('500 Oh')}${evil}`));
  const shown = await run(url);
  expect(shown.stdout).toContain('it answered 500');
  for (const text of [shown.stdout, (await run(url, ['--json'])).stdout]) {
    expect(text).not.toMatch(/[\u001b\u0007\u009b\u202e\r]/);
  }
});

test.each<[string, (socket: Socket) => void, string]>([
  [
    'a body without an end',
    (socket) => {
      socket.write(head('200 OK'));
      flood(socket, 'x'.repeat(65_536));
    },
    'it answered 200',
  ],
  [
    'a body that drips',
    (socket) => {
      socket.write(head('200 OK', 'Content-Length: 1000000\r\n'));
      flood(socket, 'x', 50);
    },
    'the answer did not end in time',
  ],
  [
    'headers without an end',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      flood(socket, `X-Filler: ${'x'.repeat(1000)}\r\n`);
    },
    'HPE_HEADER_OVERFLOW',
  ],
  [
    'interim answers without an end',
    (socket) => flood(socket, 'HTTP/1.1 102 Processing\r\n\r\n', 5),
    'no answer within',
  ],
  ['no answer', () => undefined, 'no answer within'],
  ['what is not HTTP', (socket) => socket.end('SSH-2.0-x\r\n'), 'HPE_INVALID'],
  ['a closed connection', (socket) => socket.destroy(), 'the connection was closed without an answer'],
])('%s ends a probe and not the run', async (_, answer, seen) => {
  const startedAt = performance.now();
  const { stdout, stderr, exitCode } = await run(await serveBytes(answer), ['--json', '--skip', 'dedupe']);
  expect([/\{"error.*/.exec(stderr)?.[0], exitCode]).toEqual([undefined, 7]);
  expect(stdout).toContain(seen);
  expect(stdout).toContain('"type":"summary"');
  expect(performance.now() - startedAt).toBeLessThan(8000);
});
