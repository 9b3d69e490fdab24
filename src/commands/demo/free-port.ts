import { createServer, type AddressInfo } from 'node:net';

/** The usual port if it is free, so that the printed commands are what a user would type; otherwise any free one. */
export async function freePort(usual: number): Promise<number> {
  return (await tryPort(usual)) ?? (await tryPort(0)) ?? usual;
}

function tryPort(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(port, '127.0.0.1', () => {
      const { port: bound } = server.address() as AddressInfo;
      server.close(() => resolve(bound));
    });
  });
}
