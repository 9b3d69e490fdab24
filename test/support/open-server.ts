import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';

export interface OpenServer {
  readonly port: number;
  /** Plain HTTP to it, without a path. */
  readonly url: string;
  /** Cuts every connection. */
  readonly close: () => Promise<void>;
}

/** Listens on this machine, on a free port unless one is named. */
export async function openServer(server: Server, onPort = 0): Promise<OpenServer> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(onPort, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
