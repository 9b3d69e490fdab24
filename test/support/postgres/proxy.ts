import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net';

/**
 * The answer to a message that ends with COMMIT, as PostgreSQL's protocol has it: `C`, a length, the tag, and that no
 * transaction is open now.
 */
const committed = Buffer.from('C\0\0\0\x0bCOMMIT\0Z\0\0\0\x05I', 'latin1');

/** Stands between a program and a server, and breaks their connections in a chosen way. */
export class TcpProxy {
  readonly port: number;
  readonly #server: Server;
  readonly #pairs = new Set<{ readonly client: Socket; readonly upstream: Socket }>();
  #isHeld = false;
  #losing: { readonly text: string; readonly onLost: () => void } | undefined;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  static async start(to: { readonly port: number }): Promise<TcpProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const proxy = new TcpProxy(server);
    server.on('connection', (client) => proxy.#connect(client, to.port));
    return proxy;
  }

  /** Breaks every connection; new ones are taken. `ended`: as a server ends them that stops. */
  cut(how: 'reset' | 'ended' = 'reset'): void {
    for (const { client, upstream } of this.#pairs) {
      if (how === 'ended') client.end();
      else client.resetAndDestroy();
      upstream.resetAndDestroy();
    }
  }

  /** From now on nothing passes, in connections that are there and in new ones, until `resume`. */
  hold(): void {
    this.#isHeld = true;
    for (const { client, upstream } of this.#pairs) {
      client.pause();
      upstream.pause();
    }
  }

  resume(): void {
    this.#isHeld = false;
    for (const { client, upstream } of this.#pairs) {
      client.resume();
      upstream.resume();
    }
  }

  /**
   * Cuts the next connection on which the server answers that it committed, before that answer passes: one that has
   * sent this text from now on, as it is or in hex.
   */
  loseNextCommit(text: string): Promise<void> {
    return new Promise((onLost) => (this.#losing = { text, onLost }));
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.cut();
    await once(this.#server, 'close');
  }

  #connect(client: Socket, port: number): void {
    const upstream = createConnection(port, '127.0.0.1');
    const pair = { client, upstream };
    this.#pairs.add(pair);
    if (this.#isHeld) client.pause();
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      socket.setNoDelay(true);
      // The other end learns of it by its own end.
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        other.destroy();
        this.#pairs.delete(pair);
      });
    }
    let isNamed = false;
    client.on('data', (chunk) => {
      const { text } = this.#losing ?? {};
      isNamed ||= text !== undefined && (chunk.includes(text) || chunk.includes(hexOf(text)));
      upstream.write(chunk);
    });
    let tail: Buffer = Buffer.alloc(0);
    upstream.on('data', (chunk) => {
      tail = Buffer.concat([tail, chunk]);
      const isCommit = tail.includes(committed);
      tail = tail.subarray(-committed.length + 1);
      if (isCommit && isNamed && this.#losing !== undefined) {
        const { onLost } = this.#losing;
        this.#losing = undefined;
        client.resetAndDestroy();
        upstream.destroy();
        onLost();
      } else client.write(chunk);
    });
  }
}

const hexOf = (text: string): string => Buffer.from(text).toString('hex');
