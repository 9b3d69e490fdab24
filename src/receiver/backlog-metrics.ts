import type { InboxReader, TargetCount } from '../inbox/inbox.ts';
import { targetLabel } from '../inbox/target-name.ts';
import { gauge, type MetricFamily } from '../output/openmetrics.ts';
import { type Clock, slept } from '../time/clock.ts';

/** A reading stays fresh for at least this long, in milliseconds. */
const freshMs = 1000;
/** A reading stays fresh for at least this many times as long as it took, which spares a slow database. */
const freshPerReading = 50;

/** A scrape waits at most this long for a new reading, in milliseconds. */
const scrapeWaitMs = 500;
/** The inbox counts as away when a reading takes this long, in milliseconds. */
const slowMs = 2000;

interface AgedBacklog {
  readonly backlog: readonly TargetCount[];
  readonly ageMs: number;
}

/**
 * Reads the waiting leads for those who ask for metrics, so seldom that it takes one fiftieth of the time at most. No scrape
 * waits long for it. Rejects where the inbox does not answer.
 */
export function backlogCache(
  inbox: Pick<InboxReader, 'targetCounts'>,
  clock: Pick<Clock, 'steady' | 'sleep'>,
): () => Promise<AgedBacklog> {
  let latest: { readonly backlog: readonly TargetCount[]; readonly readAt: number } | undefined;
  let failure: Error | undefined;
  let reading: Promise<void> | undefined;
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
    reading = undefined;
  };
  return async () => {
    if (clock.steady() >= freshUntil) reading ??= read();
    if (reading !== undefined) {
      const end = new AbortController();
      await Promise.race([reading, slept(clock, scrapeWaitMs, end.signal)]);
      end.abort();
    }
    const now = clock.steady();
    if (failure !== undefined) throw failure;
    const isSlow = reading !== undefined && now - startedAt >= slowMs;
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
    // It never is: `otherTargets` is among the labels.
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
