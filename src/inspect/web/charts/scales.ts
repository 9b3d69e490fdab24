/** Whole numbers from 0 to at least `most`, at most five. */
export function countTicks(most: number): number[] {
  const step = niceStep(Math.max(most, 1) / 4);
  const end = Math.ceil(Math.max(most, 1) / step) * step;
  return Array.from({ length: Math.round(end / step) + 1 }, (_, i) => i * step);
}

/** The next of 1, 2, 5, 10, 20, 50, … */
function niceStep(least: number): number {
  const power = 10 ** Math.max(0, Math.floor(Math.log10(least)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least) ?? power * 10;
}

/** Delays that a person has a feeling for; ms. */
const delays = [
  1, 10, 100, 1_000, 10_000, 60_000, 600_000, 3_600_000, 36_000_000, 86_400_000, 864_000_000, 8_640_000_000,
];

/** Around the smallest and the greatest delay, both included, for a logarithmic scale. */
export function delayTicks(least: number, most: number): number[] {
  const below = delays.findLastIndex((delay) => delay <= least);
  const from = Math.min(Math.max(0, below), delays.length - 2);
  const to = delays.findIndex((delay) => delay >= most);
  const ticks = delays.slice(from, (to === -1 ? delays.length - 1 : to) + 1);
  return ticks.length > 1 ? ticks : delays.slice(from, from + 2);
}

/** Where a delay stands between the first and the last tick: 0 to 1. */
export function delayPlace(delay: number, ticks: readonly number[]): number {
  const [first = 1, last = 10] = [ticks[0], ticks.at(-1)];
  const place = Math.log(Math.max(delay, first) / first) / Math.log(last / first);
  return Math.min(1, place);
}
