import type { Socket } from 'node:net';
import type { Transmission, Transmit } from '../../http/server/plain-response.ts';
import type { Clock } from '../../time/clock.ts';

/**
 * What happens to the bytes of a response: the connection is reset before the first of them; the body ends in its
 * middle, with its length announced, in chunks, or delimited by the end of the connection alone; or it comes slowly.
 */
export type TransmissionFault =
  | { readonly kind: 'reset' }
  | { readonly kind: 'truncate'; readonly framing: 'length' | 'chunked' | 'close' }
  | { readonly kind: 'slow'; readonly overMs: number };

const slowPieces = 10;

export function transmitWith(fault: TransmissionFault, clock: Clock): Transmit {
  switch (fault.kind) {
    case 'reset':
      return ({ request }) => reset(request.socket);
    case 'truncate':
      return (transmission) => truncate(transmission, fault.framing);
    case 'slow':
      return (transmission) => sendSlowly(transmission, fault.overMs, clock);
  }
}

/** A TCP reset; below TLS, where none can be sent, the connection is closed without an answer. */
function reset(socket: Socket): void {
  if ('encrypted' in socket) socket.destroy();
  else socket.resetAndDestroy();
}

function truncate(
  { request, response, status, headers, body }: Transmission,
  framing: 'length' | 'chunked' | 'close',
): void {
  if (framing === 'close') response.useChunkedEncodingByDefault = false;
  response.writeHead(status, {
    ...headers,
    ...(framing === 'length' && { 'content-length': body.length }),
    ...(framing === 'close' && { connection: 'close' }),
  });
  response.write(body.subarray(0, Math.floor(body.length / 2)), () => request.socket.end());
}

async function sendSlowly(
  { response, status, headers, body, signal }: Transmission,
  overMs: number,
  clock: Clock,
): Promise<void> {
  response.writeHead(status, { ...headers, 'content-length': body.length });
  const step = Math.ceil(body.length / slowPieces);
  for (let start = 0; start < body.length; start += step) {
    response.write(body.subarray(start, start + step));
    await clock.sleep(overMs / slowPieces, signal);
  }
  response.end();
}
