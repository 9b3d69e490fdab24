import type { InboxReader, TargetCount } from '../inbox/inbox.ts';
import { targetLabel } from '../inbox/target-name.ts';
import { gauge, type MetricFamily } from '../output/openmetrics.ts';
import { type Clock, slept } from '../time/clock.ts';

/** A reading stays fresh for this long at least, in milliseconds, and for so many times as long as it took, which spares a slow database. */
const [freshMs, freshPerReading] = [1000, 50];

/** A scrape waits at most this long for a new reading, in milliseconds, and gets the latest one then. */
const scrapeWaitMs = 500;
/** The inbox counts as away when a reading takes this long, in milliseconds. */
const slowMs = 2000;

interface AgedBacklog {
  readonly backlog: readonly TargetCount[];
  readonly ageMs: number;
}

/**
 * Counts the leads that wait, for those who ask for metrics: all who ask while a reading is under way share it, and there is no
 * other one as long as it is fresh. The function that it returns rejects where the last reading failed, or is under way for too
 * long.
 */
export function backlogCache(
  inbox: Pick<InboxReader, 'targetCounts'>,
  clock: Pick<Clock, 'steady' | 'sleep'>,
): () => Promise<AgedBacklog> {
  let latest: { readonly backlog: readonly TargetCount[]; readonly readAt: number } | undefined;
  let failure: Error | undefined;
  let readingNow: Promise<void> | undefined;
  let [startedAt, freshUntil] = [0, 0];
  const read = async (): Promise<void> => {
    startedAt = clock.steady();
    try {
      latest = { backlog: await inbox.targetCounts(), readAt: startedAt };
      failure = undefined;
    } catch (error) {
      failure = error as Error;
    }
    const now = clock.steady();
    freshUntil = now + Math.max(freshMs, failure === undefined ? (now - startedAt) * freshPerReading : 0);
    readingNow = undefined;
  };
  return async () => {
    if (clock.steady() >= freshUntil) readingNow ??= read();
    if (readingNow !== undefined) {
      const wait = new AbortController();
      await Promise.race([readingNow, slept(clock, scrapeWaitMs, wait.signal)]);
      wait.abort();
    }
    const now = clock.steady();
    if (failure !== undefined) throw failure;
    const isSlow = readingNow !== undefined && now - startedAt >= slowMs;
    if (latest === undefined || isSlow) throw new Error('it has not answered yet');
    return { backlog: latest.backlog, ageMs: now - latest.readAt };
  };
}

export const inboxUp = (value: 0 | 1): MetricFamily =>
  gauge(
    'leads_inbox_up',
    'Whether the inbox answers: what is read from it is absent where it does not.',
    value,
  );

/** For all targets of other runs together: they may be many. */
const otherTargets = 'other';

/** Leads that wait for each target of this run, zeros included, and the age of the oldest. `targets`: their names. */
export function backlogFamilies(
  { backlog, ageMs }: AgedBacklog,
  targets: readonly string[],
  now: number,
): MetricFamily[] {
  const labels = [...targets.map(targetLabel), otherTargets];
  const byLabel = new Map(labels.map((label) => [label, { waiting: 0, dead: 0, oldestAt: Infinity }]));
  for (const { target, waiting, dead, oldestAt, isOwn } of backlog) {
    const sum = byLabel.get(isOwn && byLabel.has(target) ? target : otherTargets);
    if (sum === undefined) continue;
    sum.waiting += waiting;
    sum.dead += dead;
    sum.oldestAt = Math.min(sum.oldestAt, oldestAt);
  }
  const sums = [...byLabel].map(([target, sum]) => [{ target }, sum] as const);
  return [
    gauge(
      'leads_waiting',
      "Leads in the inbox, whichever receiver is asked, that wait for a target, without the dead ones; 'other' are targets of other runs.",
      sums.map(([labels, { waiting }]) => [labels, waiting]),
    ),
    gauge(
      'leads_dead',
      "Leads in the inbox that were given up for a target, until 'leads inbox retry' makes them due.",
      sums.map(([labels, { dead }]) => [labels, dead]),
    ),
    gauge(
      'leads_waiting_oldest_age_seconds',
      'Since the oldest of them was first received; 0 when there is none.',
      sums.map(([labels, { oldestAt }]) => [labels, Math.max(0, now - oldestAt) / 1000]),
    ),
    gauge('leads_waiting_read_age_seconds', 'Since what waits was read from the inbox.', ageMs / 1000),
  ];
}
