import { connect, type Socket } from 'node:net';
import { connect as connectSecurely, type ConnectionOptions } from 'node:tls';
import type { DatabaseHost } from '../address/database-url.ts';
import { SocketFault } from './socket-fault.ts';

interface SocketOptions {
  readonly host: DatabaseHost;
  /** Undefined: not encrypted. */
  readonly tls: ConnectionOptions | undefined;
  readonly timeoutMs: number;
}

/** PostgreSQL, "Message Formats": SSLRequest. */
const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const takesTls = 'S'.charCodeAt(0);

/** Connects to one host, and encrypts before anything is sent. Rejects with what node says, or with a `SocketFault`. */
export async function openSocket({ host, tls, timeoutMs }: SocketOptions): Promise<Socket> {
  const { name, port, isSocket } = host;
  const socket = isSocket ? connect(`${name}/.s.PGSQL.${port}`) : connect({ host: name, port });
  socket.setNoDelay(true);
  socket.setKeepAlive(true, keepAliveMs);
  const opened = [socket];
  const timer = setTimeout(() => {
    for (const one of opened)
      one.destroy(new SocketFault('connect time-out', `no answer in ${timeoutMs / 1000} s`));
  }, timeoutMs);
  try {
    await nextEvent(socket, 'connect');
    if (tls === undefined) return socket;
    const answered = nextEvent(socket, 'data');
    socket.write(sslRequest);
    const [answer] = (await answered) as [Buffer];
    // More than the one byte would be unencrypted words of somebody in between (CVE-2021-23222).
    if (answer.length !== 1 || answer[0] !== takesTls)
      throw new SocketFault('no TLS', 'it does not offer TLS');
    const secured = connectSecurely({ ...tls, socket });
    opened.unshift(secured);
    await nextEvent(secured, 'secureConnect');
    return secured;
  } catch (error) {
    for (const one of opened) one.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** A peer that vanished is noticed on idle connections, too. */
const keepAliveMs = 30_000;

/** What the event gives; rejects when the socket fails or ends before it. */
function nextEvent(socket: Socket, event: 'connect' | 'data' | 'secureConnect'): Promise<unknown[]> {
  return new Promise((resolve, reject) => {
    const onClose = (): void => reject(new SocketFault('closed', 'it closed the connection'));
    // A listener stays, since an error without one would end the process.
    socket.on('error', reject);
    socket.once('close', onClose);
    socket.once(event, (...values: unknown[]) => {
      socket.off('close', onClose);
      resolve(values);
    });
  });
}
