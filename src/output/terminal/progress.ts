import { formatDuration } from '../../time/duration.ts';
import type { Output } from '../../context.ts';
import type { Clock } from '../../time/clock.ts';

const redrawMs = 200;
/** Estimates before this are noise. */
const estimateAfterMs = 2000;

export interface Progress {
  /** `total`: what the service says, or the limit of the user; undefined when neither is known. */
  update(leads: number, total: number | undefined): void;
  /** Erases the line, before anything else is written to the terminal. */
  clear(): void;
}

/**
 * One line on stderr that is redrawn; nothing unless that is a terminal. `before` is how many leads an earlier attempt
 * wrote: they do not count for the rate.
 */
export function showProgress(stderr: Output, clock: Clock, wanted: boolean, before = 0): Progress {
  if (!wanted || stderr.isTTY !== true) return { update: () => undefined, clear: () => undefined };
  const startedAt = clock.now();
  let drawnAt = startedAt;
  let shown = false;
  return {
    update(leads, total) {
      const now = clock.now();
      if (now - drawnAt < redrawMs) return;
      drawnAt = now;
      shown = true;
      const line = progressLine({ leads, before, total, elapsedMs: now - startedAt }).slice(
        0,
        (stderr.columns ?? 80) - 1,
      );
      stderr.write(`\r\u001b[K${line}`);
    },
    clear() {
      if (shown) stderr.write('\r\u001b[K');
      shown = false;
    },
  };
}

interface ProgressState {
  readonly leads: number;
  readonly before: number;
  readonly total: number | undefined;
  readonly elapsedMs: number;
}

export function progressLine({ leads, before, total, elapsedMs }: ProgressState): string {
  const rate = ((leads - before) * 1000) / Math.max(elapsedMs, 1);
  const parts = [`${grouped(leads)}${total === undefined ? '' : ` of ${grouped(total)}`} leads`];
  if (elapsedMs > 0) parts.push(`${grouped(Math.round(rate))}/s`);
  if (total !== undefined && total > leads && rate > 0 && elapsedMs >= estimateAfterMs) {
    parts.push(`about ${formatDuration(((total - leads) * 1000) / rate)} left`);
  }
  return parts.join(', ');
}

/** 1234567 as `1,234,567`; Intl would add milliseconds to every start. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

export function counted(count: number, one: string, many: string): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}
