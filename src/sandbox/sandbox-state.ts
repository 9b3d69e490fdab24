import type { Clock } from '../time/clock.ts';
import { DataError } from '../errors.ts';
import { LeadSet, readPostedLead, type SandboxLead } from './data/lead-set.ts';
import { hashText } from './data/seeded-random.ts';
import { createDeliveries, type RecordedAttempt } from './deliveries.ts';
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

export type SandboxState = ReturnType<typeof createSandboxState>;

/**
 * The leads of a sandbox, their deliveries, and everything that the list operation keeps between two requests. Sends
 * nothing yet. With a webhook all leads are new. Throws a `DataError` for a record that is not a lead, and a
 * `ConfigError` for a fault that the scheme cannot show.
 */
export function createSandboxState(options: SandboxOptions, { clock, poster, observe }: SandboxDependencies) {
  const { apiKeys = [defaultApiKey], records, webhook, faults = {} } = options;
  const seed = hashText(String(options.seed ?? 1));
  const api = apiOptions(options);
  const { newest = Math.floor(clock.now() / dayMs) * dayMs } = options;
  const count = records === undefined ? (options.leads ?? 250) : 0;
  const leads = new LeadSet({ seed, count, newest, status: webhook === undefined ? 'mixed' : 'new' });
  const deliveries = createDeliveries(webhook, { seed, poster, clock, onAttempt: observe });
  const requests: LoggedRequest[] = [];
  const timesRequested = new Map<string, number>();

  function addUndelivered(bytes: Uint8Array): SandboxLead | { readonly problem: string } {
    const posted = readPostedLead(bytes, api.statusField, clock.now());
    if ('problem' in posted) return posted;
    if (leads.get(posted.id) === undefined) return leads.add(posted);
    return { problem: `there is already a lead with the id ${posted.id}` };
  }

  for (const [i, bytes] of records?.entries() ?? []) {
    const added = addUndelivered(bytes);
    if ('problem' in added) throw new DataError(`lead ${i + 1} cannot be served: ${added.problem}`);
  }
  return {
    ...{ clock, api, apiKeys, seed, leads, deliveries },
    requests: requests as readonly LoggedRequest[],
    apiInjector: new FaultInjector<ApiFault>(seed, faults),
    admitRequest: rateLimit(api.rateLimit, clock),

    /** Begins to deliver the leads of the start, oldest first. */
    deliverAll(): void {
      for (const lead of leads.all) deliveries.deliver(lead);
    },

    /**
     * Counts a request for this target, and returns the key by which its faults are drawn. The key holds the count
     * and no time, so that the same requests meet the same faults in every run.
     */
    nextFaultKey(target: string): string {
      const times = (timesRequested.get(target) ?? 0) + 1;
      timesRequested.set(target, times);
      return `${target} ${times}`;
    },

    logRequest(request: LoggedRequest): void {
      requests.push(request);
      observe(request);
    },

    /** Adds a generated lead that is created now, and begins to deliver it. */
    generate(): SandboxLead {
      const lead = leads.generate(clock.now());
      deliveries.deliver(lead);
      return lead;
    },

    /** Adds a lead in its own bytes and begins to deliver it, or returns why the bytes cannot be added. */
    add(bytes: Uint8Array): SandboxLead | { readonly problem: string } {
      const added = addUndelivered(bytes);
      if (!('problem' in added)) deliveries.deliver(added);
      return added;
    },
  };
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
