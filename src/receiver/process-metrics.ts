import type { ResourceUsage } from '../host.ts';
import type { ConnectionPool, InboxReader, TargetCount } from '../inbox/inbox.ts';
import { targetLabel } from '../inbox/target-name.ts';
import { gauge, Histogram, type MetricFamily } from '../output/openmetrics.ts';
import { type Clock, slept } from '../time/clock.ts';

/** Between two measurements, in milliseconds. */
const everyMs = 100;

/** In seconds. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/**
 * By how much timers come late, since other work held up the event loop. A histogram of our own and not node's, because
 * its percentiles would have to be reset at each scrape, and two scrapers would take each other's measurements.
 */
export class EventLoopDelay {
  readonly #delays = new Histogram(bounds);

  /** Measures until `signal` aborts. */
  async measure(clock: Pick<Clock, 'steady' | 'sleep'>, signal: AbortSignal): Promise<void> {
    for (let before = clock.steady(); await slept(clock, everyMs, signal); before = clock.steady()) {
      this.#delays.observe(Math.max(0, clock.steady() - before - everyMs) / 1000);
    }
  }

  family(): MetricFamily {
    return this.#delays.family({
      name: 'leads_event_loop_delay_seconds',
      unit: 'seconds',
      help: 'By how much a timer was late, measured ten times a second.',
    });
  }
}

/** The shortest time for which what was read is good, in milliseconds, and how many times as long as reading it took. */
const freshMs = 1000;
const timesReading = 50;

/** A scrape waits so long for a new reading, and a reading may take so long before the inbox counts as away, in milliseconds. */
const scrapeWaitMs = 500;
const slowMs = 2000;

/** The leads that waited so long ago. */
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
  const latest: { last?: AgedBacklog; readAt: number; failure?: Error | undefined } = { readAt: 0 };
  const reading: { done?: Promise<void> | undefined; since: number } = { since: 0 };
  let goodUntil = 0;
  const read = async (): Promise<void> => {
    const since = clock.steady();
    reading.since = since;
    let goodMs = freshMs;
    try {
      latest.last = { backlog: await inbox.targetCounts(), ageMs: 0 };
      latest.readAt = since;
      latest.failure = undefined;
      goodMs = Math.max(freshMs, (clock.steady() - since) * timesReading);
    } catch (error) {
      latest.failure = error as Error;
    }
    goodUntil = clock.steady() + goodMs;
    reading.done = undefined;
  };
  return async () => {
    if (reading.done === undefined && clock.steady() >= goodUntil) reading.done = read();
    if (reading.done !== undefined) {
      const end = new AbortController();
      await Promise.race([reading.done, slept(clock, scrapeWaitMs, end.signal)]);
      end.abort();
    }
    const now = clock.steady();
    const { last, failure, readAt } = latest;
    if (failure !== undefined) throw failure;
    const isSlow = reading.done !== undefined && now - reading.since >= slowMs;
    if (last === undefined || isSlow) throw new Error('it has not answered yet');
    return { ...last, ageMs: now - readAt };
  };
}

/** For all targets of other runs together: they may be many. */
const otherTargets = 'other';

/** Leads that wait for each target of this run, zeros included, and the age of the oldest. `targets`: their names. */
export function backlogFamilies(
  { backlog, ageMs }: AgedBacklog,
  targets: readonly string[],
  now: number,
): MetricFamily[] {
  const byLabel = new Map<string, Omit<TargetCount, 'target' | 'isOwn'>>();
  for (const label of [...targets.map(targetLabel), otherTargets]) {
    byLabel.set(label, { waiting: 0, dead: 0, oldestAt: Number.POSITIVE_INFINITY });
  }
  for (const { target, waiting, dead, oldestAt, isOwn } of backlog) {
    const label = isOwn && byLabel.has(target) ? target : otherTargets;
    const before = byLabel.get(label);
    byLabel.set(label, {
      waiting: (before?.waiting ?? 0) + waiting,
      dead: (before?.dead ?? 0) + dead,
      oldestAt: Math.min(before?.oldestAt ?? oldestAt, oldestAt),
    });
  }
  const gauges = [...byLabel].map(([target, { waiting, dead, oldestAt }]) => ({
    labels: { target },
    waiting,
    dead,
    seconds: waiting === 0 ? 0 : Math.max(0, now - oldestAt) / 1000,
  }));
  return [
    gauge(
      {
        name: 'leads_waiting',
        help: "Leads in the inbox, whichever receiver is asked, that wait for a target, without the dead ones; 'other' are targets of other runs.",
      },
      gauges.map(({ labels, waiting }) => [labels, waiting]),
    ),
    gauge(
      {
        name: 'leads_dead',
        help: "Leads in the inbox that were given up for a target, until 'leads inbox retry' makes them due.",
      },
      gauges.map(({ labels, dead }) => [labels, dead]),
    ),
    gauge(
      {
        name: 'leads_waiting_oldest_age_seconds',
        unit: 'seconds',
        help: 'Since the oldest of them was first received; 0 when there is none.',
      },
      gauges.map(({ labels, seconds }) => [labels, seconds]),
    ),
    gauge(
      {
        name: 'leads_waiting_read_age_seconds',
        unit: 'seconds',
        help: 'Since what waits was read from the inbox.',
      },
      ageMs / 1000,
    ),
  ];
}

/** The connections to a store on another machine. */
export const poolFamilies = ({ open, busy, waiting, errors }: ConnectionPool): MetricFamily[] => [
  gauge({ name: 'leads_inbox_connections', help: 'Connections to the database.' }, [
    [{ state: 'busy' }, busy],
    [{ state: 'idle' }, Math.max(0, open - busy)],
  ]),
  gauge({ name: 'leads_inbox_waiting', help: 'Statements that wait for a connection.' }, waiting),
  {
    name: 'leads_inbox_connection_errors',
    type: 'counter',
    help: 'Connections and statements that failed.',
    samples: [{ suffix: '_total', labels: {}, value: errors }],
  },
];

/** Under the names that every Prometheus client uses. */
export function processFamilies(usage: ResourceUsage): MetricFamily[] {
  const { startedAt, cpuSeconds, residentBytes, heapBytes } = usage;
  return [
    {
      name: 'process_cpu_seconds',
      type: 'counter',
      unit: 'seconds',
      help: 'User and system time.',
      samples: [{ suffix: '_total', labels: {}, value: cpuSeconds }],
    },
    gauge(
      { name: 'process_resident_memory_bytes', unit: 'bytes', help: 'Memory that the process takes.' },
      residentBytes,
    ),
    gauge({ name: 'nodejs_heap_size_used_bytes', unit: 'bytes', help: 'JavaScript heap in use.' }, heapBytes),
    gauge(
      { name: 'process_start_time_seconds', unit: 'seconds', help: 'When it started, since the epoch.' },
      startedAt / 1000,
    ),
  ];
}
