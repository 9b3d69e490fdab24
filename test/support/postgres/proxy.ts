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
  #isRefusing = false;
  #delayMs = 0;
  #losing:
    | { readonly text: string; readonly onLost: (pass: () => void) => void; readonly isHeld: boolean }
    | undefined;

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

  /** Breaks every connection; new ones are taken. */
  cut(): void {
    for (const { client, upstream } of this.#pairs) {
      client.resetAndDestroy();
      upstream.resetAndDestroy();
    }
  }

  /** The same, and new ones are broken at once, until `resume`. */
  refuse(): void {
    this.#isRefusing = true;
    this.cut();
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
    this.#isRefusing = false;
    for (const { client, upstream } of this.#pairs) {
      client.resume();
      upstream.resume();
    }
  }

  /** How long each piece of an answer is held back. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /**
   * Cuts the next connection on which the server answers that it committed, before that answer passes. `text`: only one
   * that has sent this from now on, as it is or in hex.
   */
  loseNextCommit(text = ''): Promise<void> {
    return new Promise((onLost) => (this.#losing = { text, onLost: () => onLost(), isHeld: false }));
  }

  /** Holds back the next answer that it committed, of whatever connection. Resolves, once there is one, to what lets it pass. */
  holdNextCommit(): Promise<() => void> {
    return new Promise((onLost) => (this.#losing = { text: '', onLost, isHeld: true }));
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.cut();
    await once(this.#server, 'close');
  }

  #connect(client: Socket, port: number): void {
    if (this.#isRefusing) {
      client.resetAndDestroy();
      return;
    }
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
        const { isHeld, onLost } = this.#losing;
        this.#losing = undefined;
        if (!isHeld) {
          client.resetAndDestroy();
          upstream.destroy();
        }
        onLost(() => client.write(chunk));
      } else if (this.#delayMs === 0) {
        client.write(chunk);
      } else {
        setTimeout(() => client.write(chunk), this.#delayMs);
      }
    });
  }
}

const hexOf = (text: string): string => Buffer.from(text).toString('hex');
