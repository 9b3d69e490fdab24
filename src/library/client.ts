import { parseBaseUrl } from '../config/base-url.ts';
import { UsageError } from '../errors.ts';
import { RateGate } from '../service/client/rate-limit.ts';
import { systemClock } from '../time/clock.ts';
import {
  checkClientOptions,
  type ClientOptions,
  type LeadFilterOptions,
  type LeadsOptions,
  requireLeadsOptions,
  resolveFilterOptions,
} from './client/client-options.ts';
import type { Checkpoint } from './client/lead-checkpoint.ts';
import type { ClientAccount, LeadWalk } from './client/lead-walk.ts';
import type { PulledLead } from './webhook/lead.ts';

export type { Dialect, ParameterName } from '../config/dialect.ts';
export { ConfigError, DataError, KeyRejectedError, LeadsError, ServiceError, UsageError } from '../errors.ts';
export { IncompleteError } from '../service/listing-types.ts';
export type { Checkpoint } from './client/lead-checkpoint.ts';
export type { ClientOptions, LeadFilterOptions, LeadsOptions } from './client/client-options.ts';
export type { LeadFields, PulledLead } from './webhook/lead.ts';
export type { LeadIteration };

/**
 * A client for one account at one service. It holds no connection while no iteration runs, so there is
 * nothing to close.
 */
export interface Client {
  /**
   * Lists every lead of the service that matches, each id once, in the service's order. Throws a `UsageError`
   * at once for a filter that cannot be read. The iteration ends normally only when the list was complete;
   * otherwise it throws
   *
   * - an `IncompleteError` after the last lead, when the service did not prove that it was the last one;
   * - a `KeyRejectedError` when the service refused the API key;
   * - a `ServiceError` when the service could not be reached, kept failing or kept limiting the rate, after all retries;
   * - a `DataError` when the answer is not a list of leads, or redirects to another origin;
   * - the reason of the signal when it was aborted.
   *
   * Leaving the loop early closes the connections.
   */
  leads(filter?: LeadFilterOptions, options?: LeadsOptions): LeadIteration;
}

/**
 * Makes a client for one account. It reads no settings file and no environment, and sends no request until an
 * iteration begins. Throws a `ConfigError` or a `UsageError` at once for options that cannot work, such as
 * plain http beyond loopback, and a `TypeError` for an option that is misspelt.
 *
 * @example
 * const client = createClient({ baseUrl: 'https://leads.example.com', apiKey: process.env.LEADS_API_KEY });
 * for await (const lead of client.leads({ since: '7d', where: 'metadata.source=facebook' })) {
 *   await save(lead.id, lead.value);
 * }
 */
export function createClient(options: ClientOptions): Client {
  checkClientOptions(options);
  const baseUrl = parseBaseUrl(String(options.baseUrl));
  // All iterations share it, because the service limits the account and not one reading of the list.
  const account = { ...options, baseUrl, rateGate: new RateGate(systemClock) };
  return {
    leads: (filter = {}, leadsOptions = {}) => new LeadIteration(account, filter, leadsOptions),
  };
}

/**
 * The leads of one reading of the list. Pages are requested while the loop takes leads. It can be iterated
 * once.
 */
class LeadIteration implements AsyncIterable<PulledLead> {
  readonly #openWalk: () => Promise<LeadWalk>;
  readonly #start: Checkpoint | null;
  #walk: LeadWalk | undefined;
  #isIterated = false;

  /** @internal */
  constructor(account: ClientAccount, filter: LeadFilterOptions, options: LeadsOptions) {
    requireLeadsOptions(filter, options);
    const startedAt = Date.now();
    resolveFilterOptions(filter, startedAt);
    this.#start = options.from ?? null;
    this.#openWalk = async () => {
      const { LeadWalk } = await import('./client/lead-walk.ts');
      return new LeadWalk(account, filter, options, startedAt);
    };
  }

  /**
   * Returns the position of the iteration: a plain value for `JSON.stringify`, which another call of `leads`
   * takes as `from`, also after an error, a `break` or a new start of the process. With it no id comes twice,
   * and this client leaves none out. A lead counts as delivered once the loop has received it, so take the
   * checkpoint when the work on that lead is done. Size and time grow with the number of leads so far. The
   * result is null while nothing was read; from the checkpoint of a complete list no lead comes.
   */
  checkpoint(): Checkpoint | null {
    return this.#walk?.checkpoint() ?? this.#start;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<PulledLead, void, undefined> {
    if (this.#isIterated) {
      throw new UsageError('these leads were iterated before', {
        hint: 'call leads() again, with from: checkpoint() to go on where this iteration ended',
      });
    }
    this.#isIterated = true;
    this.#walk = await this.#openWalk();
    yield* this.#walk.leads();
  }
}
