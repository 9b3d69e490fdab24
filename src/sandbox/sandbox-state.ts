import type { Clock } from '../time/clock.ts';
import { DataError } from '../errors.ts';
import { LeadSet, readPostedLead, type SandboxLead } from './data/lead-set.ts';
import { hashText } from './data/seeded-random.ts';
import { Deliveries, type RecordedAttempt } from './deliveries.ts';
import { type ApiFault, FaultInjector } from './faults.ts';
import type { Poster } from '../http/client/poster.ts';
import { type ApiOptions, apiOptions, defaultApiKey, type SandboxOptions } from './sandbox-options.ts';

/** A request of the list operation and its response; its fields are public. */
export interface LoggedRequest {
  readonly id: string;
  readonly at: string;
  readonly method: string;
  readonly target: string;
  /** Null when the connection was reset instead. */
  readonly status: number | null;
  readonly leads: number;
  readonly faults: readonly ApiFault[];
}

export interface SandboxDependencies {
  readonly clock: Clock;
  readonly poster: Poster;
  readonly observe: (event: LoggedRequest | RecordedAttempt) => void;
}

const dayMs = 86_400_000;

export class SandboxState {
  readonly api: ApiOptions;
  readonly apiKeys: readonly string[];
  readonly seed: number;
  readonly leads: LeadSet;
  readonly requests: LoggedRequest[] = [];
  readonly apiInjector: FaultInjector<ApiFault>;
  readonly deliveries: Deliveries;
  readonly now: () => number;
  readonly takeFromLimit: RateLimit;
  readonly #timesRequested = new Map<string, number>();
  readonly #observe: SandboxDependencies['observe'];

  /**
   * Sends nothing yet. With a webhook all leads are new. Throws a `DataError` for a record that is not a lead,
   * and a `ConfigError` for a fault that the scheme cannot show.
   */
  constructor(options: SandboxOptions, { clock, poster, observe }: SandboxDependencies) {
    const { apiKeys = [defaultApiKey], seed = 1, leads = 250, records, webhook, faults = {} } = options;
    this.now = () => clock.now();
    this.#observe = observe;
    this.api = apiOptions(options);
    this.takeFromLimit = rateLimit(this.api.rateLimit, this.now);
    this.apiKeys = apiKeys;
    this.seed = hashText(String(seed));
    this.apiInjector = new FaultInjector(this.seed, faults);
    const { newest = Math.floor(this.now() / dayMs) * dayMs } = options;
    const count = records === undefined ? leads : 0;
    const status = webhook === undefined ? 'mixed' : 'new';
    this.leads = new LeadSet({ seed: this.seed, count, newest, status });
    this.deliveries = new Deliveries(webhook, { seed: this.seed, poster, clock, onAttempt: observe });
    for (const [i, bytes] of records?.entries() ?? []) {
      const added = this.#list(bytes);
      if ('problem' in added) throw new DataError(`lead ${i + 1} cannot be served: ${added.problem}`);
    }
  }

  /** Begins to deliver the leads of the start, oldest first. */
  deliverAll(): void {
    for (const lead of this.leads.all) this.deliveries.deliver(lead);
  }

  /**
   * The key of a request is its target and the count of earlier requests for it, not its time, so that faults
   * repeat.
   */
  requestKey(target: string): string {
    const times = (this.#timesRequested.get(target) ?? 0) + 1;
    this.#timesRequested.set(target, times);
    return `${target} ${times}`;
  }

  logRequest(request: LoggedRequest): void {
    this.requests.push(request);
    this.#observe(request);
  }

  generate(): SandboxLead {
    const lead = this.leads.generate(this.now());
    this.deliveries.deliver(lead);
    return lead;
  }

  /** Returns why the bytes are no lead that can be added. */
  add(bytes: Uint8Array): SandboxLead | { readonly problem: string } {
    const added = this.#list(bytes);
    if (!('problem' in added)) this.deliveries.deliver(added);
    return added;
  }

  #list(bytes: Uint8Array): ReturnType<SandboxState['add']> {
    const posted = readPostedLead(bytes, this.api.statusField, this.now());
    if ('problem' in posted) return posted;
    if (this.leads.get(posted.id) !== undefined) {
      return { problem: `there is already a lead with the id ${posted.id}` };
    }
    return this.leads.add(posted);
  }
}

type RateLimit = () => { readonly ok: boolean; readonly headers: Readonly<Record<string, string>> };

/** Counts in fixed windows, as most services do. */
function rateLimit(limit: ApiOptions['rateLimit'], now: () => number): RateLimit {
  if (limit === undefined) return () => ({ ok: true, headers: {} });
  const { requests, windowMs } = limit;
  let windowEnds = -Infinity;
  let used = 0;
  return () => {
    if (now() >= windowEnds) {
      windowEnds = now() + windowMs;
      used = 0;
    }
    used += 1;
    const ok = used <= requests;
    const seconds = Math.max(1, Math.ceil((windowEnds - now()) / 1000));
    return {
      ok,
      headers: {
        'x-ratelimit-limit': String(requests),
        'x-ratelimit-remaining': String(Math.max(0, requests - used)),
        'x-ratelimit-reset': String(Math.ceil(windowEnds / 1000)),
        ...(!ok && { 'retry-after': String(seconds) }),
      },
    };
  };
}
