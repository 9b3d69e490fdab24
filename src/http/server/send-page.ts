import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Clock } from '../../time/clock.ts';
import type { Answer } from './answer.ts';

interface Means {
  readonly gzip: boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const drops = 10;

/** Writes an answer, spoilt as its `wire` says. */
export async function send(
  answer: Answer,
  request: IncomingMessage,
  response: ServerResponse,
  { gzip, clock, signal }: Means,
): Promise<void> {
  const { wire } = answer;
  if (wire?.kind === 'reset') {
    reset(request.socket);
    return;
  }
  const accepted = request.headers['accept-encoding'];
  const packed = gzip && answer.body.length > 1024 && acceptsGzip(accepted);
  const body = packed ? gzipSync(answer.body, { level: 1 }) : answer.body;
  const framing = wire?.kind === 'truncate' ? wire.framing : 'length';
  if (framing === 'close') response.useChunkedEncodingByDefault = false;
  response.writeHead(answer.status, {
    ...answer.headers,
    ...(packed && { 'content-encoding': 'gzip', vary: 'accept-encoding' }),
    ...(framing === 'length' && { 'content-length': body.length }),
    ...(framing === 'close' && { connection: 'close' }),
  });
  if (wire?.kind === 'truncate') {
    response.write(body.subarray(0, Math.floor(body.length / 2)), () => request.socket.end());
    return;
  }
  if (wire?.kind === 'slow') {
    const step = Math.ceil(body.length / drops);
    for (let at = 0; at < body.length; at += step) {
      response.write(body.subarray(at, at + step));
      await clock.sleep(wire.overMs / drops, signal);
    }
    response.end();
    return;
  }
  response.end(request.method === 'HEAD' ? undefined : body);
}

function acceptsGzip(header: string | string[] | undefined): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(\.0+)?\s*(,|$))/.test(String(header ?? ''));
}

/** A real RST; TLS has none of its own, so there the connection below it is cut. */
function reset(socket: Socket): void {
  if ('encrypted' in socket) socket.destroy();
  else socket.resetAndDestroy();
}
