/** 24.8 days: a timer with a longer delay fires at once (node's documentation of `setTimeout`). */
export const longestTimerMs = 2 ** 31 - 1;

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** `500ms`, `30s`, `5m`, `2h`, `7d`, also fractions and sums such as `1h30m`: milliseconds, or undefined. */
export function parseDuration(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)) {
    total += Number(amount) * (units[unit ?? ''] ?? Number.NaN);
  }
  return total;
}

/** Milliseconds for people: `340ms`, `1.2s`, `3m 20s`, `2h 5m`, `4d 1h`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)}s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes}m ${Math.floor((ms % 60_000) / 1000)}s`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours}h ${minutes % 60}m` : `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/** The same without fractions, for what is drawn while it changes: `0s`, `20s`, `3m 20s`. */
export function formatSeconds(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : formatDuration(seconds * 1000);
}
