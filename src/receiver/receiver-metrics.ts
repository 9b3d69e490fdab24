import { targetLabel } from '../inbox/target-name.ts';
import { Counter, Histogram, type MetricFamily } from '../output/openmetrics.ts';
import { otherReasons, rejectReasons } from '../webhook/delivery-answer.ts';
import type { AnsweredDelivery, ForwardAttempt } from './receiver-events.ts';
import type { Target, TargetResult } from './targets/target.ts';

/** In seconds: a group commit takes one to ten milliseconds, and a sender gives up after some ten seconds. */
const durationBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const errorKinds = ['store', 'internal', 'handshake', 'connection_limit'] as const;
export type ErrorKind = (typeof errorKinds)[number];

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
