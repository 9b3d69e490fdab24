import { createServer } from 'node:net';
import { openServer } from './open-server.ts';

/** For programs that cannot be told to take any port. */
export async function freePort(): Promise<number> {
  const { port, close } = await openServer(createServer());
  await close();
  return port;
}
