import type { Chaos, DeliveryFault } from '../faults.ts';
import type { SandboxLead } from '../data/lead-set.ts';
import { Sender, type SenderOptions } from './sender.ts';
import type { Attempt } from './attempt.ts';

export interface DeliveriesOptions extends Omit<
  SenderOptions,
  'target' | 'index' | 'record' | 'settled' | 'chaos'
> {
  readonly targets: readonly string[];
  readonly chaos: Chaos<DeliveryFault>;
  readonly observe: (attempt: Attempt) => void;
}

interface Progress {
  open: number;
  failed: boolean;
}

/** Every lead to every target, and the truth about each attempt. */
export class Deliveries {
  attempts: Attempt[] = [];
  readonly #couriers: readonly Sender[];
  readonly #progress = new Map<SandboxLead, Progress>();
  #acknowledged = new Set<string>();
  paused = false;
  readonly #observe: (attempt: Attempt) => void;

  constructor({ targets, observe, ...options }: DeliveriesOptions) {
    this.#observe = observe;
    this.#couriers = targets.map(
      (target, index) =>
        new Sender({
          ...options,
          target,
          index,
          record: (attempt) => this.#record(attempt),
          settled: (lead, acknowledged) => this.#settled(lead, acknowledged),
        }),
    );
  }

  get pending(): number {
    return this.#couriers.reduce((sum, courier) => sum + courier.pending, 0);
  }

  /** Whether some attempt for this lead was answered 200. */
  isAcknowledged(leadId: string): boolean {
    return this.#acknowledged.has(leadId);
  }

  get acknowledged(): number {
    return this.#acknowledged.size;
  }

  deliver(lead: SandboxLead): void {
    if (this.#couriers.length === 0) return;
    this.#progress.set(lead, { open: this.#couriers.length, failed: false });
    for (const courier of this.#couriers) courier.enqueue(lead);
  }

  pause(): void {
    this.paused = true;
    for (const courier of this.#couriers) courier.pause();
  }

  resume(): void {
    this.paused = false;
    for (const courier of this.#couriers) courier.resume();
  }

  /** Gives up everything that is not settled. */
  cancel(): void {
    for (const courier of this.#couriers) courier.cancel();
    this.#progress.clear();
  }

  /** Gives up everything that is not settled, and forgets what was. */
  clear(): void {
    this.cancel();
    this.attempts = [];
    this.#acknowledged = new Set();
  }

  #record(attempt: Attempt): void {
    this.attempts.push(attempt);
    this.#observe(attempt);
    if (attempt.outcome === 'acknowledged') this.#acknowledged.add(attempt.leadId);
  }

  /** A lead is delivered once every target has acknowledged it, and failed once one of them was given up. */
  #settled(lead: SandboxLead, acknowledged: boolean): void {
    const progress = this.#progress.get(lead);
    if (progress === undefined) return;
    progress.open -= 1;
    progress.failed ||= !acknowledged;
    if (progress.open > 0) return;
    this.#progress.delete(lead);
    if (lead.ownStatus !== true) lead.status = progress.failed ? 'failed' : 'delivered';
  }
}
