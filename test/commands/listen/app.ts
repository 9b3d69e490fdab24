import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

export interface App {
  readonly url: string;
  readonly received: Received[];
  /** How many requests were being dealt with at the same time, at most. */
  readonly atOnce: () => number;
  close(): Promise<void>;
}

/** The app behind a receiver: `answer` decides what each request gets. */
export async function startApp(
  answer: (request: Received, response: ServerResponse, count: number) => void,
  port = 0,
): Promise<App> {
  const received: Received[] = [];
  let now = 0;
  let most = 0;
  const server = createServer((request: IncomingMessage, response) => {
    now += 1;
    most = Math.max(most, now);
    response.on('close', () => (now -= 1));
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', rawHeaders } = request;
      const one = { method, url, rawHeaders, body: Buffer.concat(chunks) };
      received.push(one);
      answer(one, response, received.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    atOnce: () => most,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** `startApp` for a file of tests: every app is closed after its test. */
export function appInEachTest(): typeof startApp {
  const started: App[] = [];
  afterEach(async () => {
    for (const app of started.splice(0)) await app.close();
  });
  return async (...args) => {
    const app = await startApp(...args);
    started.push(app);
    return app;
  };
}

export const answering =
  (status: number, body = '') =>
  (_: Received, response: ServerResponse): void => {
    response.writeHead(status).end(body);
  };
