const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const;

/** `3m ago`, `in 2h`, `now`: milliseconds since the epoch, in the largest unit that fits. */
export function relativeTime(time: number, now: number): string {
  const distance = Math.abs(now - time);
  for (const [name, ms] of units) {
    if (distance < ms) continue;
    const amount = `${Math.floor(distance / ms)}${name}`;
    return time > now ? `in ${amount}` : `${amount} ago`;
  }
  return 'now';
}
