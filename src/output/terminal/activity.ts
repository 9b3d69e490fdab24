import { formatSeconds } from '../../time/duration.ts';

/** What a run does at the moment. */
export interface Activity {
  /** What it has done so far, for a time in ms. */
  readonly progress: ((now: number) => string) | undefined;
  /** Until when it waits, in ms, and why. */
  readonly waits: readonly { readonly until: number; readonly why: string }[];
  /** Answers that are awaited. */
  readonly asking: number;
  /** When the last request was sent or the last bytes came; ms. */
  readonly heardAt: number;
}

/** A shorter silence of the service is not shown; ms. */
const silenceMs = 1000;

/** One line without an end, empty when there is nothing to say; `now` in ms. */
export function activityLine({ progress, waits, asking, heardAt }: Activity, now: number): string {
  const parts = progress === undefined ? [] : [progress(now)];
  const wait = [...waits].sort((a, b) => b.until - a.until)[0];
  if (wait !== undefined) parts.push(`waiting ${formatSeconds(Math.max(0, wait.until - now))}: ${wait.why}`);
  else if (asking > 0 && now - heardAt >= silenceMs) parts.push(`asking … ${formatSeconds(now - heardAt)}`);
  return parts.join(', ');
}
