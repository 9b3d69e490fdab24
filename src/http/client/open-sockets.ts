import type { Duplex } from 'node:stream';
import type { buildConnector as Connect } from 'undici';

/**
 * The sockets of one agent. undici ends those that are connected; one that still connects, or speaks TLS through a tunnel,
 * would keep the process until its time is up.
 */
export class OpenSockets {
  readonly #sockets = new Set<Duplex>();

  add(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  /** The same connector; undici's own returns its socket, which its types do not say. */
  of(connect: Connect.connector): Connect.connector {
    return (options, callback) => {
      const socket = (connect as (...values: Parameters<typeof connect>) => Duplex | undefined)(
        options,
        callback,
      );
      if (socket !== undefined) this.add(socket);
    };
  }

  destroy(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
