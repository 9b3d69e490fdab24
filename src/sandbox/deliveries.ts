import type { SandboxLead } from './data/lead-set.ts';
import { type RecordedAttempt, TargetQueue, type TargetQueueOptions } from './target-queue.ts';

export interface DeliveriesOptions extends Omit<TargetQueueOptions, 'target' | 'index' | 'onFinished'> {
  /** URLs. */
  readonly targets: readonly string[];
}

interface Progress {
  /** Targets that have neither acknowledged the lead nor were given up. */
  open: number;
  failed: boolean;
}

/** Every lead to every target, and a record of each attempt. */
export class Deliveries {
  attempts: RecordedAttempt[] = [];
  paused = false;
  readonly #queues: readonly TargetQueue[];
  /** By the lead's number. */
  readonly #progress = new Map<number, Progress>();
  #acknowledged = new Set<string>();

  constructor({ targets, onAttempt, ...options }: DeliveriesOptions) {
    this.#queues = targets.map(
      (target, index) =>
        new TargetQueue({
          ...options,
          target,
          index,
          onAttempt: (attempt) => {
            this.#record(attempt);
            onAttempt(attempt);
          },
          onFinished: (lead, acknowledged) => this.#finish(lead, acknowledged),
        }),
    );
  }

  get pending(): number {
    return this.#queues.reduce((sum, queue) => sum + queue.pending, 0);
  }

  /** Whether some attempt for this lead was answered 200. */
  isAcknowledged(leadId: string): boolean {
    return this.#acknowledged.has(leadId);
  }

  get acknowledged(): number {
    return this.#acknowledged.size;
  }

  deliver(lead: SandboxLead): void {
    if (this.#queues.length === 0) return;
    this.#progress.set(lead.seq, { open: this.#queues.length, failed: false });
    for (const queue of this.#queues) queue.enqueue(lead);
  }

  pause(): void {
    this.paused = true;
    for (const queue of this.#queues) queue.pause();
  }

  resume(): void {
    this.paused = false;
    for (const queue of this.#queues) queue.resume();
  }

  /** Gives up everything that is not acknowledged. */
  cancel(): void {
    for (const queue of this.#queues) queue.cancel();
    this.#progress.clear();
  }

  /** Gives up everything that is not acknowledged, and forgets what was recorded. */
  clear(): void {
    this.cancel();
    this.attempts = [];
    this.#acknowledged = new Set();
  }

  #record(attempt: RecordedAttempt): void {
    this.attempts.push(attempt);
    if (attempt.outcome === 'acknowledged') this.#acknowledged.add(attempt.leadId);
  }

  /** A lead is delivered once every target has acknowledged it, and failed once one of them was given up. */
  #finish(lead: SandboxLead, acknowledged: boolean): void {
    const progress = this.#progress.get(lead.seq);
    if (progress === undefined) return;
    progress.open -= 1;
    progress.failed ||= !acknowledged;
    if (progress.open > 0) return;
    this.#progress.delete(lead.seq);
    if (lead.ownStatus !== true) lead.status = progress.failed ? 'failed' : 'delivered';
  }
}
