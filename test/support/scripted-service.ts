import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface ScriptedService {
  readonly url: string;
  readonly asked: readonly Asked[];
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** A service that answers each request as the test says, and keeps what was asked. */
export async function scriptedService(
  answer: (asked: Asked, response: ServerResponse, count: number) => void,
): Promise<ScriptedService> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      asked.push({ method, path, headers, body: Buffer.concat(chunks).toString('utf8') });
      answer(asked.at(-1) as Asked, response, asked.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    asked,
    env: { LEADS_API_KEY: 'a-key-of-a-test', LEADS_BASE_URL: url },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
