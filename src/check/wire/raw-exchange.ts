import type { Socket } from 'node:net';
import { limitTime } from '../../http/client/limit-time.ts';
import { type Answer, keptBytes } from './answer.ts';
import { type Endpoint, openSocket } from './endpoint.ts';
import type { ExchangeOptions } from './http-exchange.ts';

/** Sends bytes that need not be HTTP, and reads the head of what comes back. Never rejects. */
export async function rawExchange(
  endpoint: Endpoint,
  bytes: string,
  { timeoutMs, signal, clock }: ExchangeOptions,
): Promise<Answer> {
  const startedAt = clock.steady();
  const limit = limitTime(timeoutMs, signal);
  const ms = (): number => Math.round(clock.steady() - startedAt);
  try {
    const socket = await openSocket(endpoint, limit.signal);
    socket.write(bytes, 'latin1');
    const came = await readHead(socket);
    socket.destroy();
    const status = /^HTTP\/1\.[01] (\d{3})[ \r\n]/.exec(came.toString('latin1'))?.[1];
    if (status === undefined) return { answered: false, code: limit.reason() ?? 'closed', ms: ms() };
    const start = came.indexOf('\r\n\r\n');
    const body = start < 0 ? Buffer.alloc(0) : came.subarray(start + 4);
    return { answered: true, status: Number(status), headers: [], body, isWhole: true, ms: ms() };
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    return { answered: false, code: limit.reason() ?? code ?? name, ms: ms() };
  } finally {
    limit.clear();
  }
}

/** Until the head has ended, the connection has, or enough came. A time limit ends the connection. */
function readHead(socket: Socket): Promise<Buffer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const all = (): Buffer => Buffer.concat(chunks).subarray(0, keptBytes);
    let length = 0;
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= keptBytes || all().includes('\r\n\r\n')) resolve(all());
    });
    socket.on('end', () => resolve(all()));
    socket.on('close', () => resolve(all()));
  });
}
