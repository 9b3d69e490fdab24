import { expect, it } from 'vitest';
import { BitSet } from '../../src/lead/id-set.ts';
import { drawsFrom } from '../../src/sandbox/data/seeded-random.ts';

it('holds exactly the numbers that were added, beyond 2^31 as well', () => {
  const draw = drawsFrom(1);
  const bits = new BitSet();
  const known = new Set<number>([0, 7, 8, 2 ** 31, 2 ** 32 + 5]);
  for (let i = 0; i < 2000; i += 1) known.add(Math.floor(draw() * 50_000));
  for (const number of known) bits.add(number);
  for (const number of known) expect(bits.has(number)).toBe(true);
  for (let number = 0; number < 60_000; number += 1) expect(bits.has(number)).toBe(known.has(number));
  expect(bits.has(2 ** 32 + 4)).toBe(false);
  expect(bits.has(2 ** 40)).toBe(false);
  expect([2 ** 31, 2 ** 31, 2 ** 40].map((number) => bits.delete(number))).toEqual([true, false, false]);
  expect([bits.has(2 ** 31), bits.has(2 ** 32 + 5)]).toEqual([false, true]);
});

it('needs a few megabytes for ten million numbers', () => {
  const before = process.memoryUsage().arrayBuffers;
  const bits = new BitSet();
  for (let number = 1; number <= 10_000_000; number += 1) bits.add(number);
  expect(bits.has(10_000_000)).toBe(true);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(40 * 1024 * 1024);
});
