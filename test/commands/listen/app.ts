import { createServer, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterEach } from 'vitest';
import { type OpenServer, openServer } from '../../support/open-server.ts';

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

export interface App extends OpenServer {
  readonly received: Received[];
}

/** The app behind a receiver: `answer` decides what each request gets. */
export async function startApp(
  answer: (request: Received, response: ServerResponse, count: number) => void,
  port = 0,
): Promise<App> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const { method = '', url = '', rawHeaders } = request;
    void buffer(request).then((body) => {
      const one = { method, url, rawHeaders, body };
      answer(one, response, received.push(one));
    });
  });
  return { ...(await openServer(server, port)), received };
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
