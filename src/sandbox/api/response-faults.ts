import type { Socket } from 'node:net';
import {
  errorResponse,
  type PlainResponse,
  type Transmission,
  type Transmit,
} from '../../http/server/plain-server.ts';
import type { Clock } from '../../time/clock.ts';
import { drawFor } from '../data/seeded-random.ts';
import type { ApiFault, FaultInjector } from '../faults.ts';

/** What goes wrong with one response of the list operation. */
export interface DrawnFaults {
  readonly names: readonly ApiFault[];
  /** Sent instead of the list. */
  readonly error: PlainResponse | undefined;
  /** How the bytes of the response are sent. */
  readonly transmit: Transmit | undefined;
}

/** `key` names the request, so that the order in which requests arrive does not matter. */
export function drawFaults(
  injector: FaultInjector<ApiFault>,
  seed: number,
  key: string,
  clock: Clock,
): DrawnFaults {
  const error = injector.drawFirst(['status500', 'status429', 'status503'], key);
  if (error !== undefined) {
    return { names: [error.name], error: errorFor(error.name, error.fault.amountMs), transmit: undefined };
  }
  const sending = injector.drawFirst(['reset', 'truncate', 'slow'], key);
  const inPage = (['shift', 'ignoredFilters', 'repeatedCursor', 'duplicate'] as const).filter(
    (name) => injector.draw(name, key) !== undefined,
  );
  return {
    names: [...(sending ? [sending.name] : []), ...inPage],
    error: undefined,
    transmit:
      sending && transmitWith(sending.name, sending.fault.amountMs, drawFor(seed, `framing ${key}`), clock),
  };
}

function errorFor(name: 'status500' | 'status429' | 'status503', retryAfterMs = 1000): PlainResponse {
  const retryAfter = { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) };
  switch (name) {
    case 'status429':
      return errorResponse(429, 'rate_limited', 'Too many requests: retry with backoff.', retryAfter);
    case 'status503':
      return errorResponse(503, 'unavailable', 'The service is down for a moment.', retryAfter);
    case 'status500':
      return errorResponse(500, 'internal_error', 'Something went wrong on our side.');
  }
}

/**
 * The connection is reset before the first byte of a response; or the body ends in its middle, with its length announced,
 * in chunks, or delimited by the end of the connection alone, as `draw` in [0, 1) chooses; or it comes slowly.
 */
function transmitWith(
  fault: 'reset' | 'truncate' | 'slow',
  overMs: number | undefined,
  draw: number,
  clock: Clock,
): Transmit {
  switch (fault) {
    case 'reset':
      return ({ request }) => reset(request.socket);
    case 'truncate': {
      const framing = draw < 1 / 3 ? 'length' : draw < 2 / 3 ? 'chunked' : 'close';
      return (transmission) => truncate(transmission, framing);
    }
    case 'slow':
      return (transmission) => sendSlowly(transmission, overMs ?? 1000, clock);
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

const slowPieces = 10;

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
