import { UsageError } from '../errors.ts';
import { forgeryKinds } from '../sender/sign-request.ts';
import { parseDuration } from '../time/time-text.ts';
import { drawFor } from './data/seeded-random.ts';

export const apiFaults = [
  'status500',
  'status429',
  'reset',
  'truncate',
  'slow',
  'duplicate',
  'shift',
  'ignoredFilters',
  'repeatedCursor',
] as const;

export const deliveryFaults = ['drop', 'reorder', 'duplicate', ...forgeryKinds] as const;

export type ApiFault = (typeof apiFaults)[number];
export type DeliveryFault = (typeof deliveryFaults)[number];

/**
 * `chance` is the share of the requests or deliveries with this fault, in [0, 1]. `amountMs` is the duration of a
 * slow response, the `Retry-After` of a 429, or the longest delay of a reordered delivery; other faults ignore it.
 */
interface Fault {
  readonly chance: number;
  readonly amountMs?: number | undefined;
}

export type Faults<N extends string> = { readonly [name in N]?: Fault | undefined };

/** Reads `status500=5%,slow=1%:200ms`; a name alone means always. Throws a `UsageError` that names the wrong part. */
export function parseFaults<N extends string>(text: string, names: readonly N[]): Faults<N> {
  const entries = text.split(',').filter((entry) => entry.trim() !== '');
  return readFaults(Object.fromEntries(entries.map(splitEntry)), names);
}

export function readFaults<N extends string>(shares: object, names: readonly N[]): Faults<N> {
  const faults: { [name in N]?: Fault } = {};
  for (const [key, value] of Object.entries(shares)) {
    const name = names.find((candidate) => candidate === key);
    if (name === undefined) {
      throw new UsageError(`there is no fault '${key}'`, { hint: `one of ${names.join(', ')}` });
    }
    const fault = parseShare(String(value));
    if (fault === undefined) {
      throw new UsageError(`the fault ${name}=${String(value)} is not a share such as 5%, or 5%:200ms`);
    }
    faults[name] = fault;
  }
  return faults;
}

function splitEntry(entry: string): [name: string, share: string] {
  const equals = entry.indexOf('=');
  return equals === -1
    ? [entry.trim(), '100%']
    : [entry.slice(0, equals).trim(), entry.slice(equals + 1).trim()];
}

/** Reads `5%`, `0.05` or `5%:200ms`. */
function parseShare(text: string): Fault | undefined {
  const match = /^(\d+(?:\.\d+)?)(%?)(?::(.+))?$/.exec(text);
  if (match === null) return undefined;
  const [, share, percent, duration] = match;
  const chance = Number(share) / (percent === '%' ? 100 : 1);
  const amountMs = duration === undefined ? undefined : parseDuration(duration);
  const isDurationUnreadable = duration !== undefined && amountMs === undefined;
  return chance > 1 || isDurationUnreadable ? undefined : { chance, amountMs };
}

export interface DrawnFault<N extends string> {
  readonly name: N;
  readonly fault: Fault;
}

/** Decides which faults happen, by seed and key alone: the same requests and leads meet the same faults in every run. */
export class FaultInjector<N extends string> {
  faults: Faults<N>;
  readonly counts: { [name in N]?: number } = {};
  readonly #seed: number;

  constructor(seed: number, faults: Faults<N>) {
    this.#seed = seed;
    this.faults = faults;
  }

  /** Returns the fault where it happens to `key`, and then counts it. */
  draw(name: N, key: string): Fault | undefined {
    const fault = this.faults[name];
    if (fault === undefined || drawFor(this.#seed, `${name} ${key}`) >= fault.chance) return undefined;
    this.counts[name] = (this.counts[name] ?? 0) + 1;
    return fault;
  }

  /** Returns the first of these faults that happens; the later ones are not drawn. */
  drawFirst<S extends N>(names: readonly S[], key: string): DrawnFault<S> | undefined {
    for (const name of names) {
      const fault = this.draw(name, key);
      if (fault !== undefined) return { name, fault };
    }
    return undefined;
  }
}
