import type { Clock } from '../time/clock.ts';
import { DataError } from '../errors.ts';
import { LeadSet, readPostedLead, type SandboxLead } from './data/lead-set.ts';
import { hashText } from './data/seeded-random.ts';
import { Deliveries, type RecordedAttempt } from './deliveries.ts';
import { type ApiFault, FaultInjector } from './faults.ts';
import type { Poster } from '../http/client/poster.ts';
import { type ApiOptions, apiOptions, defaultApiKey, type SandboxOptions } from './sandbox-options.ts';

/**
 * A request of the list operation and its response. `at` is in ISO 8601, `status` is null when the connection was
 * reset instead, and `leads` is the number of leads in the response.
 */
export interface LoggedRequest {
  readonly id: string;
  readonly at: string;
  readonly method: string;
  readonly target: string;
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

/** The leads of a sandbox, their deliveries, and everything that the list operation keeps between two requests. */
export class SandboxState {
  readonly clock: Clock;
  readonly api: ApiOptions;
  readonly apiKeys: readonly string[];
  readonly seed: number;
  readonly leads: LeadSet;
  readonly requests: LoggedRequest[] = [];
  readonly apiInjector: FaultInjector<ApiFault>;
  readonly deliveries: Deliveries;
  readonly admitRequest: RateLimit;
  readonly #timesRequested = new Map<string, number>();
  readonly #observe: SandboxDependencies['observe'];

  /**
   * Sends nothing yet. With a webhook all leads are new. Throws a `DataError` for a record that is not a lead,
   * and a `ConfigError` for a fault that the scheme cannot show.
   */
  constructor(options: SandboxOptions, { clock, poster, observe }: SandboxDependencies) {
    const { apiKeys = [defaultApiKey], seed = 1, leads = 250, records, webhook, faults = {} } = options;
    this.clock = clock;
    this.#observe = observe;
    this.api = apiOptions(options);
    this.admitRequest = rateLimit(this.api.rateLimit, clock);
    this.apiKeys = apiKeys;
    this.seed = hashText(String(seed));
    this.apiInjector = new FaultInjector(this.seed, faults);
    const { newest = Math.floor(clock.now() / dayMs) * dayMs } = options;
    const count = records === undefined ? leads : 0;
    const status = webhook === undefined ? 'mixed' : 'new';
    this.leads = new LeadSet({ seed: this.seed, count, newest, status });
    this.deliveries = new Deliveries(webhook, { seed: this.seed, poster, clock, onAttempt: observe });
    for (const [i, bytes] of records?.entries() ?? []) {
      const added = this.#addUndelivered(bytes);
      if ('problem' in added) throw new DataError(`lead ${i + 1} cannot be served: ${added.problem}`);
    }
  }

  /** Begins to deliver the leads of the start, oldest first. */
  deliverAll(): void {
    for (const lead of this.leads.all) this.deliveries.deliver(lead);
  }

  /**
   * Counts a request for this target, and returns the key by which its faults are drawn. The key holds the count
   * and no time, so that the same requests meet the same faults in every run.
   */
  nextFaultKey(target: string): string {
    const times = (this.#timesRequested.get(target) ?? 0) + 1;
    this.#timesRequested.set(target, times);
    return `${target} ${times}`;
  }

  logRequest(request: LoggedRequest): void {
    this.requests.push(request);
    this.#observe(request);
  }

  /** Adds a generated lead that is created now, and begins to deliver it. */
  generate(): SandboxLead {
    const lead = this.leads.generate(this.clock.now());
    this.deliveries.deliver(lead);
    return lead;
  }

  /** Adds a lead in its own bytes and begins to deliver it, or returns why the bytes cannot be added. */
  add(bytes: Uint8Array): SandboxLead | { readonly problem: string } {
    const added = this.#addUndelivered(bytes);
    if (!('problem' in added)) this.deliveries.deliver(added);
    return added;
  }

  #addUndelivered(bytes: Uint8Array): ReturnType<SandboxState['add']> {
    const posted = readPostedLead(bytes, this.api.statusField, this.clock.now());
    if ('problem' in posted) return posted;
    if (this.leads.get(posted.id) !== undefined) {
      return { problem: `there is already a lead with the id ${posted.id}` };
    }
    return this.leads.add(posted);
  }
}

type RateLimit = () => { readonly isAdmitted: boolean; readonly headers: Readonly<Record<string, string>> };

/**
 * The result counts one request at each call. Windows are fixed, as most services have them: the first request
 * after a window begins the next one.
 */
function rateLimit(limit: ApiOptions['rateLimit'], clock: Clock): RateLimit {
  if (limit === undefined) return () => ({ isAdmitted: true, headers: {} });
  let windowEnd = -Infinity;
  let used = 0;
  return () => {
    const now = clock.now();
    if (now >= windowEnd) {
      windowEnd = now + limit.windowMs;
      used = 0;
    }
    used += 1;
    const isAdmitted = used <= limit.requests;
    const waitSeconds = Math.max(1, Math.ceil((windowEnd - now) / 1000));
    return {
      isAdmitted,
      headers: {
        'x-ratelimit-limit': String(limit.requests),
        'x-ratelimit-remaining': String(Math.max(0, limit.requests - used)),
        'x-ratelimit-reset': String(Math.ceil(windowEnd / 1000)),
        ...(!isAdmitted && { 'retry-after': String(waitSeconds) }),
      },
    };
  };
}
