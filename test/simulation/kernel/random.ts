/** Numbers from a seed: the same seed gives the same numbers on every machine. */
export interface Random {
  /** In [0, 1). */
  next(): number;
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
  bytes(length: number): Uint8Array;
}

/** FNV-1a, so that each part of the world has numbers of its own: taking one part away changes no other. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

export function randomOf(seed: number, name: string): Random {
  // Mulberry32.
  let state = hashOf(`${seed}/${name}`);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    between,
    chance: (probability) => next() < probability,
    pick(from) {
      const found = from[between(0, from.length - 1)];
      if (found === undefined) throw new Error('nothing to pick from');
      return found;
    },
    bytes: (length) => Uint8Array.from({ length }, () => between(0, 255)),
  };
}
