import { type Answer, failure } from '../../http/server/answer.ts';
import { drawFor } from '../data/seeded-random.ts';
import type { ApiFault, Chaos } from '../faults.ts';

/** What goes wrong with one answer of the list operation. */
export interface DrawnFaults {
  readonly names: readonly ApiFault[];
  /** Answered in place of the list. */
  readonly instead: Answer | undefined;
  readonly wire: Answer['wire'];
  /** A new lead comes in just before. */
  readonly shift: boolean;
  readonly ignoreFilters: boolean;
  readonly repeatCursor: boolean;
  /** The page brings the last lead of the page before once more. */
  readonly duplicate: boolean;
}

/** Draws what goes wrong. `key` names the request, so that it does not matter which one came first. */
export function drawFaults(chaos: Chaos<ApiFault>, seed: number, key: string): DrawnFaults {
  const refusal = chaos.strikeOne(['status500', 'status429', 'status503'], key);
  const spoilt = refusal === undefined ? chaos.strikeOne(['reset', 'truncate', 'slow'], key) : undefined;
  const tricks = (['shift', 'ignoredFilters', 'repeatedCursor', 'duplicate'] as const).filter(
    (name) => refusal === undefined && chaos.strike(name, key) !== undefined,
  );
  return {
    names: [...(refusal ? [refusal.name] : []), ...(spoilt ? [spoilt.name] : []), ...tricks],
    instead: refusal && refused(refusal.name, refusal.fault.amountMs),
    wire: spoilt && wire(spoilt.name, spoilt.fault.amountMs, drawFor(seed, `framing ${key}`)),
    shift: tricks.includes('shift'),
    ignoreFilters: tricks.includes('ignoredFilters'),
    repeatCursor: tricks.includes('repeatedCursor'),
    duplicate: tricks.includes('duplicate'),
  };
}

function refused(name: ApiFault, amountMs = 1000): Answer {
  const after = { 'retry-after': String(Math.ceil(amountMs / 1000)) };
  if (name === 'status429') {
    return failure(429, 'rate_limited', 'Too many requests: retry with backoff.', after);
  }
  return name === 'status503'
    ? failure(503, 'unavailable', 'The service is down for a moment.', after)
    : failure(500, 'internal_error', 'Something went wrong on our side.');
}

function wire(name: ApiFault, amountMs: number | undefined, drawn: number): Answer['wire'] {
  if (name === 'reset') return { kind: 'reset' };
  if (name === 'slow') return { kind: 'slow', overMs: amountMs ?? 1000 };
  return { kind: 'truncate', framing: drawn < 1 / 3 ? 'length' : drawn < 2 / 3 ? 'chunked' : 'close' };
}
