import type { Clock } from '../time/clock.ts';
import type { Poster } from '../http/client/poster.ts';
import { DataError, messageOf } from '../errors.ts';
import { createSender, fixedWaits } from '../sender/sender.ts';
import { unverified } from '../webhook/scheme.ts';
import type { ApiOptions, SandboxOptions } from './sandbox-options.ts';
import { type LoggedRequest, rateLimit, type RateLimit, RequestLog } from './requests.ts';
import { LeadSet, type PostedLead, readPostedLead, type SandboxLead } from './data/lead-set.ts';
import { hashText } from './data/seeded-random.ts';
import { Deliveries } from './deliveries.ts';
import { type RecordedAttempt, rejectImpossibleForgeries } from './target-queue.ts';
import { type ApiFault, type DeliveryFault, FaultInjector, type Faults } from './faults.ts';
import type { SandboxProblem } from './problems.ts';

const defaultRetryMs = [1000, 5000, 30_000];
const defaultTimeoutMs = 10_000;
/** Deliveries in flight at one time, per target. */
export const defaultConcurrency = 8;

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

/** Everything one sandbox knows and can do; the list operation and the control endpoints are two views of it. */
export class SandboxState {
  readonly api: ApiOptions;
  readonly seed: number;
  readonly leads: LeadSet;
  readonly requests = new RequestLog();
  readonly apiInjector: FaultInjector<ApiFault>;
  readonly deliveryInjector: FaultInjector<DeliveryFault>;
  readonly deliveries: Deliveries;
  limit: RateLimit;
  readonly sentenceOf: (error: unknown) => string;
  readonly #options: SandboxOptions;
  readonly #clock: Clock;
  readonly #observe: (event: LoggedRequest | RecordedAttempt) => void;

  constructor(options: SandboxOptions, api: ApiOptions, dependencies: SandboxDependencies) {
    const { clock, poster, sentenceOf = messageOf, observe = () => undefined } = dependencies;
    this.#options = options;
    this.#clock = clock;
    this.#observe = observe;
    this.sentenceOf = sentenceOf;
    this.api = api;
    this.seed = hashText(String(options.seed ?? 1));
    this.leads = new LeadSet(this.seed);
    this.limit = rateLimit(api.rateLimit, () => clock.now());
    this.apiInjector = new FaultInjector(this.seed, options.faults ?? {});
    this.deliveryInjector = new FaultInjector(this.seed, {});
    const { webhook } = options;
    this.deliveries = new Deliveries({
      targets: webhook?.targets ?? [],
      sender: createSender({
        signer: webhook?.signer ?? { scheme: unverified, key: undefined },
        schedule: fixedWaits(webhook?.retryMs ?? defaultRetryMs),
        timeoutMs: webhook?.timeoutMs ?? defaultTimeoutMs,
        poster,
        clock,
      }),
      seed: this.seed,
      injector: this.deliveryInjector,
      concurrency: webhook?.concurrency ?? defaultConcurrency,
      clock,
      onAttempt: observe,
    });
    this.setDeliveryFaults(options.deliveryFaults ?? {});
  }

  /** Names of the headers with which the webhooks' scheme proves who sent them. */
  get credentialHeaders(): readonly string[] {
    return this.#options.webhook?.signer.scheme.credentialHeaders ?? [];
  }

  now(): number {
    return this.#clock.now();
  }

  logRequest(request: LoggedRequest): void {
    this.requests.add(request);
    this.#observe(request);
  }

  /** Throws a `ConfigError` for a fault that the scheme cannot show. */
  setDeliveryFaults(faults: Faults<DeliveryFault>): void {
    const signer = this.#options.webhook?.signer;
    if (signer !== undefined) rejectImpossibleForgeries(signer, faults);
    this.deliveryInjector.faults = faults;
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
   * Adds the leads that are there at the start. With a webhook all of them are new, and are delivered oldest first.
   * Throws a `DataError` for a record that is not a lead.
   */
  addInitialLeads(): void {
    const { leads = 250, newest, records, webhook } = this.#options;
    if (webhook?.paused === true) this.deliveries.pause();
    else this.deliveries.resume();
    const hasTargets = (webhook?.targets.length ?? 0) > 0;
    const midnight = Math.floor(this.now() / 86_400_000) * 86_400_000;
    const status = hasTargets ? 'new' : 'mixed';
    this.leads.restart(records === undefined ? leads : 0, newest ?? midnight, status);
    for (const [i, bytes] of (records ?? []).entries()) {
      const posted = this.#readNewLead(bytes);
      if ('problem' in posted) {
        const why = posted.problem;
        throw new DataError({ kind: 'not-servable', number: i + 1, why } satisfies SandboxProblem);
      }
      this.leads.add(posted);
    }
    if (hasTargets) for (const lead of this.leads) this.deliveries.deliver(lead);
  }

  /** Back to the start: leads, records of what happened, faults, and whether deliveries are paused. */
  reset(): void {
    this.deliveries.clear();
    this.requests.clear();
    this.apiInjector.injected.clear();
    this.deliveryInjector.injected.clear();
    this.apiInjector.faults = this.#options.faults ?? {};
    this.deliveryInjector.faults = this.#options.deliveryFaults ?? {};
    this.limit = rateLimit(this.api.rateLimit, () => this.now());
    this.addInitialLeads();
  }

  #readNewLead(bytes: Uint8Array): PostedLead | LeadProblem {
    const posted = readPostedLead(bytes, this.api.statusField, this.now());
    if (!('problem' in posted) && this.leads.get(posted.id) !== undefined) {
      return { problem: `there is already a lead with the id ${posted.id}`, taken: true };
    }
    return posted;
  }
}
