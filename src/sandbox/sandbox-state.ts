import type { Clock } from '../time/clock.ts';
import type { Poster } from '../http/client/poster.ts';
import { DataError, messageOf } from '../errors.ts';
import {
  type ApiOptions,
  defaultApiKey,
  defaultConcurrency,
  type SandboxOptions,
  type WebhookOptions,
} from './sandbox-options.ts';
import { type LoggedRequest, rateLimit, type RateLimit, RequestLog } from './requests.ts';
import { LeadSet, type PostedLead, readPostedLead, type SandboxLead } from './data/lead-set.ts';
import { hashText } from './data/seeded-random.ts';
import { type RecordedAttempt, rejectImpossibleForgeries, TargetQueue } from './target-queue.ts';
import { type ApiFault, FaultInjector, type DeliveryFault, type Faults } from './faults.ts';
import { createSender, fixedWaits } from '../sender/sender.ts';

export interface SandboxDependencies {
  readonly clock: Clock;
  readonly poster: Poster;
  /** The neutral sentence of an error, for an answer. Default: its message. */
  readonly sentenceOf?: ((error: unknown) => string) | undefined;
  /** Called for each request of the list operation, and each attempt to deliver, once it is over. */
  readonly observe?: ((event: LoggedRequest | RecordedAttempt) => void) | undefined;
}

/** Why a lead from outside is not taken. */
export interface LeadProblem {
  /** One sentence. */
  readonly problem: string;
  /** True when there is a lead with this id already. */
  readonly taken?: boolean;
}

/** Everything that the account has and can do; the list operation and the control endpoints are two views of it. */
export class SandboxState {
  readonly apiKeys: readonly string[];
  readonly api: ApiOptions;
  readonly seed: number;
  readonly leads: LeadSet;
  readonly requests = new RequestLog();
  readonly apiInjector: FaultInjector<ApiFault>;
  readonly deliveries: Deliveries;
  limit: RateLimit;
  readonly sentenceOf: (error: unknown) => string;
  readonly #options: SandboxOptions;
  readonly #clock: Clock;
  readonly #observe: (event: LoggedRequest | RecordedAttempt) => void;

  /** Throws a `DataError` for a record that is not a lead, and a `ConfigError` for a fault that a scheme cannot show. */
  constructor(options: SandboxOptions, api: ApiOptions, dependencies: SandboxDependencies) {
    const { clock, poster, sentenceOf = messageOf, observe = () => undefined } = dependencies;
    this.#options = options;
    this.#clock = clock;
    this.#observe = observe;
    this.sentenceOf = sentenceOf;
    this.apiKeys = options.apiKeys ?? [defaultApiKey];
    this.api = api;
    this.seed = hashText(String(options.seed ?? 1));
    this.leads = new LeadSet(this.seed);
    this.limit = rateLimit(api.rateLimit, () => clock.now());
    this.apiInjector = new FaultInjector(this.seed, {});
    const { webhooks = [] } = options;
    this.deliveries = new Deliveries({ webhooks, seed: this.seed, poster, clock, onAttempt: observe });
    this.reset();
  }

  now(): number {
    return this.#clock.now();
  }

  logRequest(request: LoggedRequest): void {
    this.requests.add(request);
    this.#observe(request);
  }

  /** Adds the seed's next lead and delivers it. */
  generate(): SandboxLead {
    const lead = this.leads.generate(this.now());
    this.deliveries.deliver(lead);
    return lead;
  }

  /** Adds a lead from outside in its own bytes and delivers it. */
  add(bytes: Uint8Array): SandboxLead | LeadProblem {
    const posted = this.#readNewLead(bytes);
    if ('problem' in posted) return posted;
    const lead = this.leads.add(posted);
    this.deliveries.deliver(lead);
    return lead;
  }

  /**
   * As at the start: leads, records of what happened, faults, and whether deliveries are paused. With a webhook all leads
   * are new, and are delivered oldest first.
   */
  reset(): void {
    const { leads = 250, newest, records = [], webhooks = [], faults = {} } = this.#options;
    this.requests.clear();
    this.apiInjector.restart(faults);
    this.limit = rateLimit(this.api.rateLimit, () => this.now());
    this.deliveries.restart();
    const midnight = Math.floor(this.now() / 86_400_000) * 86_400_000;
    const count = this.#options.records === undefined ? leads : 0;
    this.leads.restart(count, newest ?? midnight, webhooks.length > 0 ? 'new' : 'mixed');
    for (const [i, bytes] of records.entries()) {
      const posted = this.#readNewLead(bytes);
      if ('problem' in posted) {
        throw new DataError(`lead ${i + 1} cannot be served: ${posted.problem}`);
      }
      this.leads.add(posted);
    }
    if (webhooks.length > 0) for (const lead of this.leads) this.deliveries.deliver(lead);
  }

  #readNewLead(bytes: Uint8Array): PostedLead | LeadProblem {
    const posted = readPostedLead(bytes, this.api.statusField, this.now());
    if (!('problem' in posted) && this.leads.get(posted.id) !== undefined) {
      return { problem: `there is already a lead with the id ${posted.id}`, taken: true };
    }
    return posted;
  }
}

interface DeliveriesOptions {
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

/** Every lead to each webhook, and a record of each attempt. */
class Deliveries {
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

  /** Whether some genuine attempt for this lead was answered 200. */
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
    if (attempt.outcome === 'acknowledged' && !attempt.forged) this.#acknowledged.add(attempt.leadId);
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
