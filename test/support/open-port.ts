import type { Server, Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { openServer } from './open-server.ts';

/** The port of a server that is open until the end of the test. A connection that breaks off is no failure of it. */
export async function openPort(server: Server): Promise<number> {
  server.on('connection', (socket: Socket) => socket.on('error', () => undefined));
  const { port, close } = await openServer(server);
  onTestFinished(close);
  return port;
}
