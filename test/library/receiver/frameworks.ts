import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { onTestFinished } from 'vitest';
import type { WebhookReceiver } from '../../../src/library/receiver.ts';

/** Serves on a free port until the test is done; gives the URL. */
export async function serve(
  handler: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<string> {
  const server = createServer((request, response) => void handler(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => closed(server));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

/** As a server for Fetch handlers does it: the request is a stream, the response is read to its end. */
const fetchBridge =
  (fetchHandler: (request: Request) => Response | Promise<Response>) =>
  async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        request.on('data', (piece: Uint8Array) => controller.enqueue(piece));
        request.on('end', () => controller.close());
      },
    });
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as const);
    const url = `http://${request.headers.host ?? ''}${request.url ?? ''}`;
    const init = { method: request.method ?? '', headers: new Headers(Object.fromEntries(headers)), body };
    const answer = await fetchHandler(new Request(url, { ...init, duplex: 'half' }));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  };

/** Each framework with a receiver at /leads, as its users put it there. */
export const frameworks: Readonly<Record<string, (receiver: WebhookReceiver) => Promise<string>>> = {
  http: (receiver) => serve(receiver.node),

  express(receiver) {
    const app = express();
    app.post('/leads', receiver.node);
    app.use(express.json());
    return serve(app);
  },

  async fastify(receiver) {
    const app = fastify();
    app.post('/other', (request) => request.body);
    await app.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
      scope.post('/leads', async (request, reply) => {
        reply.hijack();
        await receiver.node(request.raw, reply.raw);
      });
      await Promise.resolve();
    });
    onTestFinished(() => app.close());
    return app.listen({ port: 0, host: '127.0.0.1' });
  },

  hono(receiver) {
    const app = new Hono();
    app.post('/leads', (context) => receiver.fetch(context.req.raw));
    return serve(fetchBridge(app.fetch));
  },
};
