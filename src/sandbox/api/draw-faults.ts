import { errorResponse, type PlainResponse } from '../../http/server/plain-response.ts';
import { drawFor } from '../data/seeded-random.ts';
import type { FaultInjector } from '../fault-injector.ts';
import type { ApiFault } from '../faults.ts';
import type { TransmissionFault } from './faulty-transmission.ts';

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
