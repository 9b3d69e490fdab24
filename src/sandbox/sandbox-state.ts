import type { Clock } from '../time/clock.ts';
import type { Poster } from '../http/client/poster.ts';
import { DataError, messageOf } from '../errors.ts';
import { type AccountOptions, type ApiOptions, defaultApiKey } from './sandbox-options.ts';
import { type LoggedRequest, rateLimit, type RateLimit, RequestLog } from './requests.ts';
import { LeadSet, type PostedLead, readPostedLead, type SandboxLead } from './data/lead-set.ts';
import { hashText } from './data/seeded-random.ts';
import { Deliveries } from './deliveries.ts';
import type { RecordedAttempt } from './target-queue.ts';
import { type ApiFault, FaultInjector } from './faults.ts';
import type { SandboxProblem } from './problems.ts';

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

/** Everything that one account has and can do; the list operation and the control endpoints are two views of it. */
export class SandboxState {
  readonly name: string;
  readonly apiKeys: readonly string[];
  readonly api: ApiOptions;
  readonly seed: number;
  readonly leads: LeadSet;
  readonly requests = new RequestLog();
  readonly apiInjector: FaultInjector<ApiFault>;
  readonly deliveries: Deliveries;
  limit: RateLimit;
  readonly sentenceOf: (error: unknown) => string;
  readonly #options: AccountOptions;
  readonly #clock: Clock;
  readonly #observe: (event: LoggedRequest | RecordedAttempt) => void;

  /** Throws a `DataError` for a record that is not a lead, and a `ConfigError` for a fault that a scheme cannot show. */
  constructor(name: string, options: AccountOptions, api: ApiOptions, dependencies: SandboxDependencies) {
    const { clock, poster, sentenceOf = messageOf, observe = () => undefined } = dependencies;
    this.#options = options;
    this.#clock = clock;
    this.#observe = observe;
    this.sentenceOf = sentenceOf;
    this.name = name;
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

  /** A new lead is added each time so many milliseconds have passed. */
  get everyMs(): number | undefined {
    return this.#options.everyMs;
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
        const why = posted.problem;
        throw new DataError({ kind: 'not-servable', number: i + 1, why } satisfies SandboxProblem);
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
