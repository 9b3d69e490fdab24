import { setMaxListeners } from 'node:events';
import type { Clock } from '../../time/clock.ts';
import type { Poster } from '../../http/client/post.ts';
import { hashText } from '../data/seeded-random.ts';
import type { Chaos, DeliveryFault } from '../faults.ts';
import type { SandboxLead } from '../data/lead-set.ts';
import { Queue } from './queue.ts';
import { forgeries, signed, type Signer } from './sign.ts';
import type { Attempt, Outcome } from './attempt.ts';

export interface SenderOptions {
  readonly target: string;
  /** Place among the targets: chance depends on it, and not on the URL with its port. */
  readonly index: number;
  readonly signer: Signer;
  readonly seed: number;
  readonly chaos: Chaos<DeliveryFault>;
  /** Waits between attempts, in milliseconds; after the last of them it gives up. */
  readonly retryMs: readonly number[];
  readonly timeoutMs: number;
  readonly concurrency: number;
  readonly poster: Poster;
  readonly clock: Clock;
  readonly record: (attempt: Attempt) => void;
  /** Called once for each lead that was handed over, unless it was cancelled. */
  readonly settled: (lead: SandboxLead, acknowledged: boolean) => void;
}

interface Job {
  readonly lead: SandboxLead;
  readonly id: string;
  attempts: number;
  /** Whether the faults that befall a delivery before it is first sent have been drawn. */
  drawn: boolean;
  /** What befell it since the last attempt. */
  faults: DeliveryFault[];
  /** A second copy of an acknowledged delivery: its answer settles nothing. */
  again?: true;
}

const defaultDelayMs = 2000;
/** A delivery that is to be overtaken waits for another one this long at most. */
const overtakenWithinMs = 1000;

/** A backlog's worth of waits ends with one signal: that is no leak. */
function stopper(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

/** Delivers leads to one target, in order unless a fault says otherwise. */
export class Sender {
  readonly #options: SenderOptions;
  readonly #ready = new Queue<Job>();
  #overtaken: Job[] = [];
  #inFlight = 0;
  #waiting = 0;
  #paused = false;
  #stop = stopper();
  #lastUsedId: string | undefined;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** Deliveries that are not settled. */
  get pending(): number {
    return this.#ready.length + this.#inFlight + this.#waiting + this.#overtaken.length;
  }

  enqueue(lead: SandboxLead): void {
    const { seed, index } = this.#options;
    const half = (salt: string): string =>
      hashText(`${salt} ${index} ${lead.id}`, seed).toString(32).padStart(7, '0');
    this.#ready.push({ lead, id: `msg_${half('a')}${half('b')}`, attempts: 0, drawn: false, faults: [] });
    this.#pump();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#pump();
  }

  /** Forgets what is not settled, and cuts what is in flight. */
  cancel(): void {
    this.#stop.abort();
    this.#stop = stopper();
    while (this.#ready.length > 0) this.#ready.shift();
    this.#overtaken = [];
    this.#lastUsedId = undefined;
  }

  #pump(): void {
    while (!this.#paused && this.#inFlight < this.#options.concurrency && this.#ready.length > 0) {
      const job = this.#ready.shift();
      if (job === undefined || this.#isHeldBack(job)) continue;
      this.#inFlight += 1;
      void this.#attempt(job, this.#stop.signal).finally(() => {
        this.#inFlight -= 1;
        this.#release(this.#overtaken.splice(0));
      });
    }
  }

  /** Faults before the first attempt: lost, late, or overtaken. */
  #isHeldBack(job: Job): boolean {
    if (job.drawn) return false;
    job.drawn = true;
    const { chaos, index } = this.#options;
    const key = `${job.lead.id} ${index}`;
    const struck = chaos.strikeOne(['drop', 'delay', 'reorder'], key);
    if (struck === undefined) return false;
    job.faults.push(struck.name);
    if (struck.name === 'drop') {
      this.#record(job, 'dropped', { durationMs: 0 });
      this.#options.settled(job.lead, false);
    } else if (struck.name === 'delay') {
      void this.#later(job, struck.fault.amountMs ?? defaultDelayMs);
    } else {
      this.#overtaken.push(job);
      void this.#releaseLater(job, struck.fault.amountMs ?? overtakenWithinMs);
    }
    return true;
  }

  async #attempt(job: Job, signal: AbortSignal): Promise<void> {
    const { poster, target, index, signer, timeoutMs, clock, retryMs } = this.#options;
    job.attempts += 1;
    const key = `${job.lead.id} ${index}`;
    const forgery = job.again === true ? undefined : this.#forgery(`${key} ${job.attempts}`);
    if (forgery !== undefined) job.faults.push(forgery);
    const plan = {
      url: target,
      id: job.id,
      body: job.lead.text(),
      now: clock.now(),
      usedId: this.#lastUsedId,
    };
    const at = clock.now();
    const posted = await poster.post(
      { url: target, ...signed(signer, plan, forgery) },
      { timeoutMs, signal },
    );
    if (signal.aborted) return;
    const { durationMs } = posted;
    if (posted.ok) {
      const outcome = posted.status === 200 ? 'acknowledged' : 'refused';
      this.#record(job, outcome, { at, durationMs, status: posted.status }, forgery !== undefined);
      if (outcome === 'acknowledged') {
        this.#acknowledged(job, key);
        return;
      }
    } else this.#record(job, 'unanswered', { at, durationMs, error: posted.code }, forgery !== undefined);
    if (job.again === true) return;
    const wait = retryMs[job.attempts - 1];
    if (wait === undefined) this.#options.settled(job.lead, false);
    else void this.#later(job, wait);
  }

  #acknowledged(job: Job, key: string): void {
    if (job.again === true) return;
    this.#lastUsedId = job.id;
    this.#options.settled(job.lead, true);
    if (this.#options.chaos.strike('duplicate', key) === undefined) return;
    this.#ready.push({ ...job, faults: ['duplicate'], again: true });
  }

  #forgery(key: string): (typeof forgeries)[number] | undefined {
    // There is nothing to reuse before something was acknowledged.
    const possible = forgeries.filter((name) => name !== 'reusedNonce' || this.#lastUsedId !== undefined);
    return this.#options.chaos.strikeOne(possible, key)?.name as (typeof forgeries)[number] | undefined;
  }

  #record(
    job: Job,
    outcome: Outcome,
    seen: { at?: number; durationMs: number; status?: number; error?: string },
    forged = false,
  ): void {
    const { record, target, clock } = this.#options;
    const { at = clock.now(), ...rest } = seen;
    record({
      deliveryId: job.id,
      leadId: job.lead.id,
      target,
      attempt: Math.max(1, job.attempts),
      at: new Date(at).toISOString(),
      outcome,
      ...rest,
      faults: job.faults,
      forged,
    });
    job.faults = [];
  }

  /** Back into the queue after a while, unless everything was cancelled meanwhile. */
  async #later(job: Job, ms: number): Promise<void> {
    const { signal } = this.#stop;
    this.#waiting += 1;
    try {
      await this.#options.clock.sleep(ms, signal);
    } catch {
      // Cancelled: nothing waits for it any more.
    }
    this.#waiting -= 1;
    if (!signal.aborted) this.#release([job]);
  }

  async #releaseLater(job: Job, ms: number): Promise<void> {
    const { signal } = this.#stop;
    try {
      await this.#options.clock.sleep(ms, signal);
    } catch {
      return;
    }
    if (!this.#overtaken.includes(job)) return;
    this.#overtaken = this.#overtaken.filter((one) => one !== job);
    this.#release([job]);
  }

  #release(jobs: readonly Job[]): void {
    for (const job of jobs) this.#ready.push(job);
    this.#pump();
  }
}
