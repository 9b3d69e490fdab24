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
  readonly transmission: TransmissionFault | undefined;
  /** A new lead is added just before. */
  readonly shift: boolean;
  readonly ignoreFilters: boolean;
  readonly repeatCursor: boolean;
  /** The page repeats the last lead of the page before. */
  readonly duplicate: boolean;
}

/** `key` names the request, so that the order in which requests arrive does not matter. */
export function drawFaults(injector: FaultInjector<ApiFault>, seed: number, key: string): DrawnFaults {
  const error = injector.drawFirst(['status500', 'status429', 'status503'], key);
  const transmission =
    error === undefined ? injector.drawFirst(['reset', 'truncate', 'slow'], key) : undefined;
  const inPage = (['shift', 'ignoredFilters', 'repeatedCursor', 'duplicate'] as const).filter(
    (name) => error === undefined && injector.draw(name, key) !== undefined,
  );
  return {
    names: [...(error ? [error.name] : []), ...(transmission ? [transmission.name] : []), ...inPage],
    error: error && errorFor(error.name, error.fault.amountMs),
    transmission:
      transmission &&
      transmissionFault(transmission.name, transmission.fault.amountMs, drawFor(seed, `framing ${key}`)),
    shift: inPage.includes('shift'),
    ignoreFilters: inPage.includes('ignoredFilters'),
    repeatCursor: inPage.includes('repeatedCursor'),
    duplicate: inPage.includes('duplicate'),
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

/** `draw` in [0, 1) chooses the framing of a truncated body. */
function transmissionFault(
  kind: 'reset' | 'truncate' | 'slow',
  amountMs: number | undefined,
  draw: number,
): TransmissionFault {
  if (kind === 'reset') return { kind };
  if (kind === 'slow') return { kind, overMs: amountMs ?? 1000 };
  return { kind, framing: draw < 1 / 3 ? 'length' : draw < 2 / 3 ? 'chunked' : 'close' };
}

/**
 * What happens to the bytes of a response: the connection is reset before the first of them; the body ends in its
 * middle, with its length announced, in chunks, or delimited by the end of the connection alone; or it comes slowly.
 */
type TransmissionFault =
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
