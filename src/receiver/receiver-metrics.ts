import { targetLabel } from '../inbox/target-name.ts';
import { Counter, gauge, Histogram, type MetricFamily } from '../output/openmetrics.ts';
import { otherReasons, rejectReasons } from '../webhook/delivery-answer.ts';
import type { AnsweredDelivery, ForwardAttempt } from './receiver-events.ts';
import type { Target, TargetResult } from './targets/target.ts';
import type { InboxReader, TargetCount } from '../inbox/inbox.ts';
import { type Clock, slept } from '../time/clock.ts';

/** In seconds: a group commit takes one to ten milliseconds, and a sender gives up after some ten seconds. */
const durationBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const errorKinds = ['store', 'internal', 'handshake', 'connection_limit'] as const;
type ErrorKind = (typeof errorKinds)[number];

const forwardResults = ['ok', 'http_3xx', 'http_4xx', 'http_5xx', 'failed'] as const;

/**
 * Counts what a receiver does. Costs a few additions for each delivery, and its memory does not grow. Every combination of labels
 * that can occur starts at 0, so that a scraper sees its first increase.
 */
export class ReceiverMetrics {
  readonly #verdicts = new Counter(
    'leads_deliveries',
    'Deliveries by verdict, reason and source; one that holds several leads counts once for each of them.',
  );
  readonly #forwards = new Counter(
    'leads_forwards',
    'Attempts to forward a lead to a target (forward, exec, output), by result.',
  );
  readonly #errors = new Counter(
    'leads_errors',
    'Deliveries that could not be stored or failed here, failed TLS handshakes, connections over the limit.',
  );
  readonly #answered = new Histogram(durationBounds);

  constructor(targets: readonly Pick<Target, 'name'>[]) {
    for (const source of ['push', 'backfill'] as const) {
      for (const verdict of ['accepted', 'duplicate'] as const) {
        this.#verdicts.add({ verdict, reason: '', source });
      }
    }
    for (const reason of rejectReasons) this.#verdicts.add({ verdict: 'rejected', reason, source: 'push' });
    for (const reason of otherReasons) this.#verdicts.add({ verdict: 'other', reason, source: 'push' });
    for (const { name } of targets) {
      const [kind = ''] = name.split(' ');
      const target = targetLabel(name);
      for (const result of kind === 'forward' ? forwardResults : (['ok', 'failed'] as const)) {
        this.#forwards.add({ target, result });
      }
    }
    for (const kind of errorKinds) this.#errors.add({ kind });
  }

  answered(ms: number): void {
    this.#answered.observe(ms / 1000);
  }

  failed(kind: ErrorKind): void {
    this.#errors.increment({ kind });
  }

  delivered({ verdict, reason, source }: AnsweredDelivery): void {
    this.#verdicts.increment({ verdict, reason: reason ?? '', source });
  }

  forwarded({ target, result }: ForwardAttempt): void {
    this.#forwards.increment({ target, result: resultLabel(result) });
  }

  families(): MetricFamily[] {
    return [
      this.#verdicts.family(),
      this.#answered.family('leads_answer_duration_seconds', 'From the receipt of a delivery to its answer.'),
      this.#forwards.family(),
      this.#errors.family(),
    ];
  }
}

function resultLabel({ to, ok, status }: TargetResult): (typeof forwardResults)[number] {
  if (ok) return 'ok';
  if (to !== 'forward' || status === undefined) return 'failed';
  if (status < 300) return 'failed';
  if (status < 400) return 'http_3xx';
  return status < 500 ? 'http_4xx' : 'http_5xx';
}

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
