import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** A client that says exactly what a test wants on the wire, well-formed or not. */
export class Wire {
  readonly socket: Socket;
  #text = '';
  #closed = false;
  #wake: (() => void)[] = [];

  constructor(socket: Socket) {
    this.socket = socket;
    const wake = (): void => {
      for (const one of this.#wake.splice(0)) one();
    };
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      this.#text += chunk;
      wake();
    });
    // A reset is one of the ways in which a server may end a connection.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#closed = true;
      wake();
    });
  }

  send(data: string | Uint8Array): void {
    if (this.socket.writable)
      this.socket.write(typeof data === 'string' ? Buffer.from(data, 'latin1') : data);
  }

  text(): string {
    return this.#text;
  }

  /** Everything that came, once it matches. */
  async until(pattern: RegExp, ms = 10_000): Promise<string> {
    await this.#when(
      () => pattern.test(this.#text),
      ms,
      `${String(pattern)} in ${JSON.stringify(this.#text)}`,
    );
    return this.#text;
  }

  /** Everything that came, once the server ended the connection. */
  async closed(ms = 10_000): Promise<string> {
    await this.#when(() => this.#closed, ms, `the end of the connection after ${JSON.stringify(this.#text)}`);
    return this.#text;
  }

  #when(done: () => boolean, ms: number, what: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`waited ${ms} ms for ${what}`)), ms);
      const look = (): void => {
        if (done()) {
          clearTimeout(timer);
          resolve();
        } else if (this.#closed) {
          clearTimeout(timer);
          reject(new Error(`the connection ended before ${what}`));
        } else this.#wake.push(look);
      };
      look();
    });
  }
}

/** A connection to `port` on this machine; over TLS when an authority is given. */
export function openWire(port: number, ca?: string, host = '127.0.0.1'): Promise<Wire> {
  return new Promise((resolve, reject) => {
    const socket =
      ca === undefined
        ? connectPlain({ port, host })
        : connectTls({ port, host, ca, servername: 'localhost', ALPNProtocols: ['http/1.1'] });
    socket.once('error', reject);
    const wire = new Wire(socket);
    socket.once(ca === undefined ? 'connect' : 'secureConnect', () => {
      socket.off('error', reject);
      resolve(wire);
    });
  });
}

/** A well-formed request; `headers` are lines. */
export const post = (body: string, headers: readonly string[] = [], path = '/'): string =>
  [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    ...headers,
    `Content-Length: ${Buffer.byteLength(body, 'latin1')}`,
    '',
    body,
  ].join('\r\n');

/** The status codes of the answers in what came, in order. */
export const statuses = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
