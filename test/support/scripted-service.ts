import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type OpenServer, openServer } from './open-server.ts';

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly (readonly [string, string])[];
  readonly body: Buffer;
}

export interface ScriptedService extends OpenServer {
  readonly asked: readonly ReceivedRequest[];
  readonly env: Readonly<Record<string, string>>;
}

/** A service that answers each request as the test says, and keeps what was asked. */
export async function scriptedService(
  answer: (asked: ReceivedRequest, response: ServerResponse, count: number) => void,
): Promise<ScriptedService> {
  const asked: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    const { method = '', url: path = '', headers, rawHeaders: flat } = request;
    const rawHeaders = flat.flatMap((name, i) => (i % 2 === 0 ? [[name, flat[i + 1] ?? ''] as const] : []));
    void buffer(request).then((body) => {
      const received = { method, path, headers, rawHeaders, body };
      answer(received, response, asked.push(received));
    });
  });
  const opened = await openServer(server);
  return { ...opened, asked, env: { LEADS_API_KEY: 'a-key-of-a-test', LEADS_BASE_URL: opened.url } };
}

export interface ScriptedReceiver extends OpenServer {
  readonly received: readonly ReceivedRequest[];
}

/** A receiver whose `answer` gives the status, or nothing to cut the connection. */
export async function scriptedReceiver(
  answer: (request: ReceivedRequest, count: number) => number | undefined,
): Promise<ScriptedReceiver> {
  const { asked, url, ...server } = await scriptedService((request, response, count) => {
    const status = answer(request, count);
    if (status === undefined) response.destroy();
    else response.writeHead(status).end();
  });
  return { ...server, url: `${url}/hook`, received: asked };
}
