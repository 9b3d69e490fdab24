import type { Poster } from '../http/client/poster.ts';
import { createSender, fixedWaits } from '../sender/sender.ts';
import type { Clock } from '../time/clock.ts';
import type { SandboxLead } from './data/lead-set.ts';
import { type DeliveryFault, FaultInjector, type Faults } from './faults.ts';
import { defaultConcurrency, type WebhookOptions } from './sandbox-options.ts';
import { type RecordedAttempt, rejectImpossibleForgeries, TargetQueue } from './target-queue.ts';

export interface DeliveriesOptions {
  readonly webhooks: readonly WebhookOptions[];
  readonly seed: number;
  readonly poster: Poster;
  readonly clock: Clock;
  readonly onAttempt: (attempt: RecordedAttempt) => void;
}

interface Progress {
  /** Webhooks that have neither acknowledged the lead nor were given up. */
  open: number;
  failed: boolean;
}

interface Webhook {
  readonly options: WebhookOptions;
  readonly injector: FaultInjector<DeliveryFault>;
  readonly queue: TargetQueue;
}

const defaultRetryMs = [1000, 5000, 30_000];
const defaultTimeoutMs = 10_000;

/** Every lead of one account to each of its webhooks, and a record of each attempt. */
export class Deliveries {
  attempts: RecordedAttempt[] = [];
  paused = false;
  readonly #webhooks: readonly Webhook[];
  /** By the lead's number. */
  readonly #progress = new Map<number, Progress>();
  #acknowledged = new Set<string>();

  /** Throws a `ConfigError` for a fault that a scheme cannot show. */
  constructor({ webhooks, onAttempt, poster, clock, seed }: DeliveriesOptions) {
    this.#webhooks = webhooks.map((options, index) => {
      const { signer, retryMs = defaultRetryMs, timeoutMs = defaultTimeoutMs } = options;
      rejectImpossibleForgeries(signer, options.faults ?? {});
      const injector = new FaultInjector<DeliveryFault>(seed, {});
      const queue = new TargetQueue({
        target: options.url,
        concurrency: options.concurrency ?? defaultConcurrency,
        sender: createSender({ signer, schedule: fixedWaits(retryMs), timeoutMs, poster, clock }),
        ...{ index, seed, injector, clock },
        onAttempt: (attempt) => {
          this.#record(attempt);
          onAttempt(attempt);
        },
        onFinished: (lead, acknowledged) => this.#finish(lead, acknowledged),
      });
      return { options, injector, queue };
    });
  }

  /** Names of the headers with which the first webhook's scheme proves who sent a delivery. */
  get credentialHeaders(): readonly string[] {
    return this.#webhooks[0]?.options.signer.scheme.credentialHeaders ?? [];
  }

  /** Those of the first webhook. */
  get faults(): Faults<DeliveryFault> {
    return this.#webhooks[0]?.injector.faults ?? {};
  }

  get injectors(): readonly FaultInjector<DeliveryFault>[] {
    return this.#webhooks.map(({ injector }) => injector);
  }

  /** For every webhook. Throws a `ConfigError` for a fault that a scheme cannot show. */
  setFaults(faults: Faults<DeliveryFault>): void {
    for (const { options } of this.#webhooks) rejectImpossibleForgeries(options.signer, faults);
    for (const { injector } of this.#webhooks) injector.faults = faults;
  }

  get pending(): number {
    return this.#webhooks.reduce((sum, { queue }) => sum + queue.pending, 0);
  }

  /** Whether some attempt for this lead was answered 200. */
  isAcknowledged(leadId: string): boolean {
    return this.#acknowledged.has(leadId);
  }

  get acknowledged(): number {
    return this.#acknowledged.size;
  }

  deliver(lead: SandboxLead): void {
    if (this.#webhooks.length === 0) return;
    this.#progress.set(lead.seq, { open: this.#webhooks.length, failed: false });
    for (const { queue } of this.#webhooks) queue.enqueue(lead);
  }

  pause(): void {
    this.paused = true;
    for (const { queue } of this.#webhooks) queue.pause();
  }

  resume(): void {
    this.paused = false;
    for (const { queue } of this.#webhooks) queue.resume();
  }

  /** As at the start: nothing is recorded, and each webhook waits or delivers as its options say. */
  restart(): void {
    this.clear();
    for (const { options, injector, queue } of this.#webhooks) {
      injector.restart(options.faults ?? {});
      if (options.paused === true) queue.pause();
      else queue.resume();
    }
    this.paused = this.#webhooks.some(({ options }) => options.paused);
  }

  /** Gives up everything that is not acknowledged. */
  cancel(): void {
    for (const { queue } of this.#webhooks) queue.cancel();
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

  /** A lead is delivered once every webhook has acknowledged it, and failed once one of them was given up. */
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
