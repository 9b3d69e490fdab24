import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { ensureAuthority } from '../../src/tls/local-authority.ts';
import { freshHome } from '../support/run.ts';
import { check } from './support.ts';

const token = 'Token-of-the-Tests';
const longest = 1 << 20;

type Refusal = (request: IncomingMessage, response: ServerResponse) => unknown;

/** A connection by TLS can only be closed; what is unread resets it. */
const reset = (socket: Socket): unknown =>
  socket instanceof TLSSocket ? socket.destroy() : socket.resetAndDestroy();

/** The ways in which receivers that keep the rules end a body that is too long. */
const refusals: Readonly<Record<string, Refusal>> = {
  'resets the connection': ({ socket }) => void reset(socket),
  'answers 413 early and resets the connection': ({ socket }, response) =>
    response.writeHead(413).end('too long', () => reset(socket)),
  'resets the connection within its early answer of 413': ({ socket }, response) =>
    response.writeHead(413, { 'content-length': 100 }).write('too', () => reset(socket)),
  'answers 413 early and stops reading': (request, response) => {
    request.pause();
    response.writeHead(413, { connection: 'close' }).end('too long');
  },
  'answers 413 early and reads the rest': (request, response) => {
    request.resume();
    response.writeHead(413).end('too long');
  },
  'answers 413 once it has read everything': (request, response) => {
    request.resume().once('end', () => response.writeHead(413).end('too long'));
  },
};

/** Takes leads by their token, and refuses what is longer than 1 MiB as soon as that shows. */
function receive(refuse: Refusal, seesLength: boolean) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    let length = seesLength ? Number(request.headers['content-length'] ?? 0) : 0;
    if (length > longest) return void refuse(request, response);
    const take = (chunk: Buffer): void => {
      chunks.push(chunk);
      length += chunk.length;
      if (length <= longest) return;
      request.off('data', take).off('end', end);
      refuse(request, response);
    };
    const end = (): void => {
      const isGenuine = request.headers['x-webhook-token'] === token;
      response.writeHead(isGenuine && chunks.length > 0 ? 200 : 401).end();
    };
    request
      .on('data', take)
      .on('end', end)
      .on('error', () => undefined);
  };
}

const cases = Object.keys(refusals).flatMap((what) =>
  ['http', 'https'].flatMap((protocol) =>
    ['by its length', 'as it comes'].map((when) => ({ what, protocol, when })),
  ),
);

test.each(cases)(
  'a receiver that $what passes body.huge ($protocol, $when)',
  async ({ what, protocol, when }) => {
    const home = freshHome();
    const { certPem, keyPem } = await ensureAuthority(`${home}/data`, { now: Date.now });
    const listener = receive(refusals[what] as Refusal, when === 'by its length');
    const server =
      protocol === 'http'
        ? createServer(listener)
        : createSecureServer({ cert: certPem, key: keyPem }, listener);
    server.on('clientError', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const url = `${protocol}://localhost:${(server.address() as AddressInfo).port}/`;
    const argv = [url, '--token', token, '--only', 'body.huge', '--timeout', '3s'];
    const run = await check(argv, {
      home,
      env: { PATH: process.env['PATH'] ?? '', LEADS_DATA_DIR: `${home}/data` },
    });
    expect(run.probes.map(({ name, result, detail }) => [name, result, detail])).toEqual([
      ['delivery.valid', 'pass', expect.anything()],
      ['body.huge', 'pass', expect.anything()],
    ]);
  },
);
