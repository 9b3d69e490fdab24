import { createServer, request, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { Duplex } from 'node:stream';
import type { Scheduled, Scheduler } from './scheduler.ts';

/** What the network does to a connection; taken when it is opened. */
export interface Link {
  /** One way, in milliseconds. */
  readonly latency: () => number;
  /** The bytes that still pass before the connection is reset; undefined: it is not. */
  readonly resetAfter: number | undefined;
}

export interface LinkRules {
  /** For a connection to that port; undefined: nobody answers, and nothing is said either. */
  open(port: number): Link | undefined;
}

/** Whose sockets end when it dies. */
export interface Owner {
  readonly isAlive: boolean;
  readonly busyUntil?: number;
  readonly sockets: Set<SimSocket>;
}

type Listener = (socket: SimSocket) => void;

/** All ports of the one machine that every process of a world believes to be on. */
export class Network {
  readonly #scheduler: Scheduler;
  readonly #listeners = new Map<number, { readonly owner: Owner; readonly accept: Listener }>();
  readonly rules: LinkRules;
  #port = 40_000;

  constructor(scheduler: Scheduler, rules: LinkRules) {
    this.#scheduler = scheduler;
    this.rules = rules;
  }

  get now(): number {
    return this.#scheduler.now;
  }

  freePort(): number {
    this.#port += 1;
    return this.#port;
  }

  listen(port: number, owner: Owner, accept: Listener): void {
    const there = this.#listeners.get(port);
    if (there?.owner.isAlive === true) throw systemError('EADDRINUSE', 'listen', port);
    this.#listeners.set(port, { owner, accept });
  }

  unlisten(port: number, owner: Owner): void {
    if (this.#listeners.get(port)?.owner === owner) this.#listeners.delete(port);
  }

  connect(port: number, owner: Owner): SimSocket {
    const link = this.rules.open(port);
    const socket = new SimSocket(this.#scheduler, owner, this.freePort(), port);
    this.#scheduler.after(link?.latency() ?? 0, () => {
      if (socket.destroyed || link === undefined || !owner.isAlive) return;
      const there = this.#listeners.get(port);
      if (there === undefined || !there.owner.isAlive) {
        socket.destroy(systemError('ECONNREFUSED', 'connect', port));
        return;
      }
      const accepted = new SimSocket(this.#scheduler, there.owner, port, socket.localPort);
      socket.join(accepted, link);
      accepted.join(socket, link);
      accepted.connecting = false;
      there.accept(accepted);
      this.#scheduler.after(link.latency(), () => socket.opened());
    });
    return socket;
  }

  /** The sockets of a process that is gone: their peers see an end or a reset, or nothing where the machine lost power. */
  drop(owner: Owner, isSilent: boolean): void {
    for (const socket of owner.sockets)
      socket.lose(isSilent ? 'nothing' : socket.localPort % 2 === 0 ? 'end' : 'reset');
    owner.sockets.clear();
  }
}

export function systemError(code: string, syscall: string, port?: number): NodeJS.ErrnoException {
  const where = port === undefined ? '' : ` 127.0.0.1:${port}`;
  return Object.assign(new Error(`${syscall} ${code}${where}`), {
    code,
    syscall,
    port,
    address: '127.0.0.1',
  });
}

/** Bytes that a connection takes before its peer has read them. */
const sendBufferBytes = 65_536;

/** One end of a connection; what it has of `net.Socket` is what node:http, undici and the product ask for. */
export class SimSocket extends Duplex {
  readonly #scheduler: Scheduler;
  readonly #owner: Owner;
  readonly remoteAddress = '127.0.0.1';
  readonly localAddress = '127.0.0.1';
  readonly remoteFamily = 'IPv4';
  readonly localPort: number;
  readonly remotePort: number;
  connecting = true;
  bytesRead = 0;
  bytesWritten = 0;
  timeout = 0;
  #peer: SimSocket | undefined;
  #link: Link | undefined;
  #lastArrival = 0;
  /** Written, and not sent yet. */
  #gathered: Buffer[] = [];
  /** Bytes that the peer has not read. */
  #inFlight = 0;
  /** Tells that there is room again. */
  #held: (() => void) | undefined;
  #waiting: (() => void)[] = [];
  #timer: Scheduled | undefined;

  constructor(scheduler: Scheduler, owner: Owner, localPort: number, remotePort: number) {
    super({ allowHalfOpen: true });
    this.#scheduler = scheduler;
    this.#owner = owner;
    this.localPort = localPort;
    this.remotePort = remotePort;
    owner.sockets.add(this);
  }

  /** Whose process is at the other end. */
  get peerOwner(): Owner | undefined {
    return this.#peer === undefined ? undefined : this.#peer.#owner;
  }

  /** Whether the process at the other end has not let go of the connection. */
  get isHeldByPeer(): boolean {
    return this.#peer?.destroyed === false && this.#peer.#owner.isAlive;
  }

  join(peer: SimSocket, link: Link): void {
    this.#peer = peer;
    this.#link = link;
  }

  opened(): void {
    if (this.destroyed) return;
    this.connecting = false;
    for (const go of this.#waiting.splice(0)) go();
    this.emit('connect');
    this.emit('ready');
  }

  get readyState(): string {
    return this.connecting ? 'opening' : 'open';
  }

  address(): { address: string; family: string; port: number } {
    return { address: '127.0.0.1', family: 'IPv4', port: this.localPort };
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error) => void): void {
    if (this.connecting) {
      this.#waiting.push(() => this._write(chunk, _, done));
      return;
    }
    this.bytesWritten += chunk.length;
    // What is written in one turn leaves together: versions of node divide it differently.
    if (this.#gathered.length === 0) this.#scheduler.after(0, () => this.#send());
    this.#gathered.push(chunk);
    this.#inFlight += chunk.length;
    this.touch();
    if (this.#inFlight < sendBufferBytes) done();
    else this.#held = done;
  }

  #send(): void {
    const [peer, link] = [this.#peer, this.#link];
    const bytes = Buffer.concat(this.#gathered.splice(0));
    if (bytes.length === 0 || peer === undefined || link === undefined) return;
    const isCut = link.resetAfter !== undefined && this.bytesWritten > link.resetAfter;
    this.#arrive(link, peer, () => {
      if (isCut) {
        peer.lose('reset');
        this.lose('reset');
        return;
      }
      if (peer.destroyed) {
        this.destroy(systemError('ECONNRESET', 'write'));
        return;
      }
      peer.bytesRead += bytes.length;
      peer.touch();
      if (peer.push(bytes)) this.#wasRead();
    });
  }

  /** The peer has read all that arrived. */
  #wasRead(): void {
    this.#inFlight = 0;
    const held = this.#held;
    this.#held = undefined;
    held?.();
  }

  override _read(): void {
    const peer = this.#peer;
    if (peer !== undefined && !peer.destroyed) peer.#wasRead();
  }

  override _final(done: (error?: Error) => void): void {
    if (this.connecting) {
      this.#waiting.push(() => this._final(done));
      return;
    }
    const [peer, link] = [this.#peer, this.#link];
    if (peer === undefined || link === undefined) return;
    this.#send();
    this.#arrive(link, peer, () => {
      if (!peer.destroyed) peer.push(null);
    });
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#timer?.cancel();
    this.#owner.sockets.delete(this);
    this.#send();
    const [peer, link] = [this.#peer, this.#link];
    if (this.#owner.isAlive && peer !== undefined && link !== undefined && !peer.destroyed) {
      const isReset = error !== null || !this.writableFinished;
      this.#arrive(link, peer, () => {
        if (peer.destroyed) return;
        if (isReset && !peer.readableEnded && error !== null) peer.lose('reset');
        else if (!peer.readableEnded) peer.push(null);
      });
    }
    done(error);
  }

  /** The connection is gone without a word of this side's process. */
  lose(how: 'end' | 'reset' | 'nothing'): void {
    if (this.destroyed) return;
    if (!this.#owner.isAlive) {
      const peer = this.#peer;
      const link = this.#link;
      if (how === 'nothing') this.#gathered = [];
      this.destroy();
      if (how === 'nothing' || peer === undefined || link === undefined) return;
      this.#arrive(link, peer, () => {
        if (peer.destroyed) return;
        if (how === 'reset') peer.lose('reset');
        else peer.push(null);
      });
      return;
    }
    if (how === 'reset') this.destroy(systemError('ECONNRESET', 'read'));
  }

  /** In the order in which it was sent. */
  #arrive(link: Link, peer: SimSocket, run: () => void): void {
    const at = Math.max(this.#lastArrival, this.#scheduler.now + link.latency());
    this.#lastArrival = at;
    this.#scheduler.afterFor(peer.#owner, at - this.#scheduler.now, run);
  }

  touch(): void {
    if (this.timeout > 0) this.setTimeout(this.timeout);
  }

  setTimeout(ms: number, callback?: () => void): this {
    this.#timer?.cancel();
    this.timeout = ms;
    if (callback !== undefined) this.once('timeout', callback);
    if (ms > 0) this.#timer = this.#scheduler.after(ms, () => this.emit('timeout'));
    return this;
  }

  setNoDelay = (): this => this;
  setKeepAlive = (): this => this;
  ref = (): this => this;
  unref = (): this => this;

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  resetAndDestroy(): this {
    return this.destroy(systemError('ECONNRESET', 'write'));
  }
}

/** A real server of node:http on a port of this network. Its own timers, which go by real time, are off. */
export function serverOn(
  network: Network,
  owner: Owner,
  options: ServerOptions,
  listener?: (request: never, response: never) => void,
): Server {
  const server = createServer({
    ...options,
    requestTimeout: 0,
    headersTimeout: 0,
    keepAliveTimeout: 0,
    connectionsCheckingInterval: 2 ** 31 - 1,
  });
  if (listener !== undefined) server.on('request', listener as unknown as RequestListener);
  const open = new Set<SimSocket>();
  let port = 0;
  let isListening = false;
  let isClosing = false;
  const closeWhenEmpty = (): void => {
    if (isClosing && open.size === 0) server.emit('close');
  };
  const keepAliveMs = options.keepAliveTimeout ?? 5_000;
  const methods = {
    listen(asked: number, ...rest: unknown[]): Server {
      const done = rest.find((item) => typeof item === 'function') as (() => void) | undefined;
      port = asked === 0 ? network.freePort() : asked;
      process.nextTick(() => {
        try {
          network.listen(port, owner, (socket) => {
            open.add(socket);
            socket.once('close', () => {
              open.delete(socket);
              closeWhenEmpty();
            });
            server.emit('connection', socket);
          });
        } catch (error) {
          server.emit('error', error);
          return;
        }
        isListening = true;
        if (done !== undefined) server.once('listening', done);
        server.emit('listening');
        stopCheckingConnections(server);
      });
      return server;
    },
    address: () => ({ address: '127.0.0.1', family: 'IPv4', port }),
    close(done?: () => void): Server {
      network.unlisten(port, owner);
      if (done !== undefined) server.once('close', done);
      if (isListening) {
        isListening = false;
        isClosing = true;
        server.closeIdleConnections();
      }
      // As in node, closing once more is told as well.
      process.nextTick(closeWhenEmpty);
      return server;
    },
    ref: () => server,
    unref: () => server,
  };
  Object.assign(server, methods);
  Object.defineProperty(server, 'listening', { get: () => isListening });
  // An idle connection is closed as node would, by virtual time.
  server.prependListener('request', (_, response) => {
    response.sendDate = false;
    // As of a service that answers at once: what is late then is on its way.
    response.setHeader('date', new Date(network.now).toUTCString());
    const socket = response.socket as unknown as SimSocket | null;
    response.once('finish', () => {
      if (socket !== null && !socket.destroyed && keepAliveMs > 0) {
        socket.setTimeout(keepAliveMs);
      }
    });
    socket?.setTimeout(0);
  });
  return server;
}

/** node:http checks connections by a timer of real time, which would keep what is dead in memory. */
function stopCheckingConnections(server: Server): void {
  const fields = server as unknown as Record<symbol, unknown>;
  const key = Object.getOwnPropertySymbols(server).find(
    ({ description }) => description === 'http.server.connectionsCheckingInterval',
  );
  if (key !== undefined) clearInterval(fields[key] as NodeJS.Timeout);
}

type RequestArguments = Parameters<typeof request>;

/** `request` of node:http over this network. */
export const requestOn =
  (network: Network, owner: Owner) =>
  (...[to, options, done]: RequestArguments): ReturnType<typeof request> => {
    const target = typeof to === 'string' || to instanceof URL ? new URL(to) : undefined;
    const given = (target === undefined ? to : options) as Record<string, unknown>;
    const callback = typeof options === 'function' ? options : done;
    const port = Number(target?.port ?? given['port'] ?? 80);
    return request(
      {
        ...(target === undefined
          ? {}
          : { hostname: target.hostname, port, path: target.pathname + target.search }),
        ...(typeof given === 'object' ? given : {}),
        agent: undefined,
        createConnection: () => network.connect(port, owner) as never,
      } as never,
      callback as never,
    );
  };
