import { formatDuration, parseDuration } from '../time/duration.ts';
import { UsageError } from '../errors.ts';
import { drawFor } from './data/seeded-random.ts';

/** What can go wrong with an answer of the list operation. */
export const apiFaults = [
  'status500',
  'status429',
  'status503',
  'reset',
  'truncate',
  'slow',
  'duplicate',
  'shift',
  'ignoredFilters',
  'repeatedCursor',
] as const;

/** What can go wrong with a delivery. */
export const deliveryFaults = [
  'drop',
  'delay',
  'reorder',
  'duplicate',
  'badSignature',
  'staleTimestamp',
  'reusedNonce',
  'alteredPayload',
] as const;

export type ApiFault = (typeof apiFaults)[number];
export type DeliveryFault = (typeof deliveryFaults)[number];

export interface Fault {
  /** In [0, 1]. */
  readonly chance: number;
  /** How slow, how late, how long to wait: milliseconds. */
  readonly amountMs?: number | undefined;
}

export type Faults<N extends string> = { readonly [name in N]?: Fault };

/** `status500=5%,slow=1%:200ms`. Throws a `UsageError` that names what is wrong. */
export function parseFaults<N extends string>(text: string, names: readonly N[]): Faults<N> {
  const entries = text.split(',').filter((entry) => entry.trim() !== '');
  return readFaults(Object.fromEntries(entries.map(halves)), names);
}

/** The same as an object: `{"status500":"5%","slow":"1%:200ms"}`. */
export function readFaults<N extends string>(given: object, names: readonly N[]): Faults<N> {
  const faults: { [name in N]?: Fault } = {};
  for (const [key, value] of Object.entries(given)) {
    const name = names.find((one) => one === key);
    if (name === undefined) {
      throw new UsageError(`there is no fault '${key}'`, { hint: `one of ${names.join(', ')}` });
    }
    faults[name] = parseFault(key, String(value));
  }
  return faults;
}

/** What `readFaults` reads. */
export function showFaults(faults: Faults<string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(faults).map(([name, fault]) => [
      name,
      `${Number(((fault?.chance ?? 0) * 100).toFixed(4))}%` +
        (fault?.amountMs === undefined ? '' : `:${formatDuration(fault.amountMs).replace(/ /g, '')}`),
    ]),
  );
}

function halves(entry: string): [string, string] {
  const at = entry.indexOf('=');
  return at === -1 ? [entry.trim(), '100%'] : [entry.slice(0, at).trim(), entry.slice(at + 1).trim()];
}

function parseFault(name: string, text: string): Fault {
  const found = /^(\d+(?:\.\d+)?)(%?)(?::(.+))?$/.exec(text);
  const chance = Number(found?.[1]) / (found?.[2] === '%' ? 100 : 1);
  const amount = found?.[3] === undefined ? undefined : parseDuration(found[3]);
  if (!(chance <= 1) || (found?.[3] !== undefined && amount === undefined)) {
    throw new UsageError(`the fault ${name}=${text} is not a share such as 5%, or 5%:200ms`);
  }
  return { chance, amountMs: amount };
}

/** Decides, by seed and key alone, what goes wrong, and counts it. */
export class Chaos<N extends string> {
  faults: Faults<N> = {};
  readonly injected = new Map<N, number>();
  readonly #seed: number;

  constructor(seed: number, faults: Faults<N>) {
    this.#seed = seed;
    this.faults = faults;
  }

  /** The fault, when this key is hit by it. */
  strike(name: N, key: string): Fault | undefined {
    const fault = this.faults[name];
    if (fault === undefined || drawFor(this.#seed, `${name} ${key}`) >= fault.chance) return undefined;
    this.injected.set(name, (this.injected.get(name) ?? 0) + 1);
    return fault;
  }

  /** The first of these that hits. */
  strikeOne(names: readonly N[], key: string): { readonly name: N; readonly fault: Fault } | undefined {
    for (const name of names) {
      const fault = this.strike(name, key);
      if (fault !== undefined) return { name, fault };
    }
    return undefined;
  }
}
