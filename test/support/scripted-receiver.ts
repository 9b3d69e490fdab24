import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly (readonly [string, string])[];
  readonly method: string;
  readonly path: string;
  readonly body: Buffer;
}

/** A plain HTTP receiver that answers as a test says and keeps what came. */
export class ScriptedReceiver {
  readonly received: ReceivedRequest[] = [];
  url = '';
  readonly #server: Server;

  /** `answer` gives the status, or nothing to cut the connection. */
  constructor(answer: (request: ReceivedRequest, count: number) => number | undefined) {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { rawHeaders: flat } = request;
        const got: ReceivedRequest = {
          headers: request.headers,
          rawHeaders: Array.from({ length: flat.length / 2 }, (_, i) => [
            flat[2 * i] ?? '',
            flat[2 * i + 1] ?? '',
          ]),
          method: request.method ?? '',
          path: request.url ?? '',
          body: Buffer.concat(chunks),
        };
        this.received.push(got);
        const status = answer(got, this.received.length);
        if (status === undefined) request.socket.destroy();
        else response.writeHead(status).end();
      });
    });
  }

  async open(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
    return this;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
