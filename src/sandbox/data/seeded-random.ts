/** A 32-bit hash: FNV-1a, then mixed so that similar texts give distant numbers. Not for secrets. */
export function hashText(text: string, seed = 0): number {
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return scatter(hash >>> 0);
}

/** Murmur3's finaliser: a bijection of the 32-bit numbers, so that distinct numbers stay distinct. */
export function scatter(n: number): number {
  let hash = n >>> 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Returns a number in [0, 1) that depends only on seed and key, not on the order of the calls. */
export function drawFor(seed: number, key: string): number {
  return hashText(key, seed) / 0x1_0000_0000;
}

/** Returns a function whose calls give the numbers of a stream, each in [0, 1) (mulberry32). */
export function drawsFrom(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

export function pick<T>(items: readonly T[], draw: () => number): T {
  return items[Math.floor(draw() * items.length)] as T;
}
