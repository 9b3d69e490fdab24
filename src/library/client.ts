import { parseBaseUrl } from '../config/base-url.ts';
import { UsageError } from '../errors.ts';
import { RateGate } from '../service/client/service.ts';
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

/** One account at one service. Holds no connection while no iteration runs, so there is nothing to close. */
export interface Client {
  /**
   * Every lead of the service that matches, each id once, in the service's order. Throws at once for a filter that
   * cannot be read. Iterating ends normally only when the list was complete; it throws
   *
   * - `IncompleteError` after the last lead that came, when the service did not show that it was the last one;
   * - `KeyRejectedError` when the service refused the key;
   * - `ServiceError` when the service could not be reached, kept failing or kept limiting the rate, retries included;
   * - `DataError` when its answer is not a list of leads, or redirects to another origin;
   * - the signal's reason when it was aborted.
   *
   * Leaving the loop early closes its connections.
   */
  leads(filter?: LeadFilterOptions, options?: LeadsOptions): LeadIteration;
}

/**
 * A client for one account. It reads no settings file and no environment, and sends nothing until an iteration begins.
 * Throws a `ConfigError` or a `UsageError` at once for options that cannot work, such as plain http beyond loopback, and
 * a `TypeError` for one that is misspelt.
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
  // Shared by all iterations: the service limits the account, not one reading of the list.
  const account = { ...options, baseUrl, rateGate: new RateGate(systemClock) };
  return {
    leads: (filter = {}, leadsOptions = {}) => new LeadIteration(account, filter, leadsOptions),
  };
}

/** The leads of one reading of the list, which is read while they are taken. It can be iterated once. */
class LeadIteration implements AsyncIterable<PulledLead> {
  readonly #walk: () => Promise<LeadWalk>;
  readonly #start: Checkpoint | null;
  #walked: LeadWalk | undefined;
  #isTaken = false;

  /** @internal */
  constructor(account: ClientAccount, filter: LeadFilterOptions, options: LeadsOptions) {
    requireLeadsOptions(filter, options);
    const startedAt = Date.now();
    resolveFilterOptions(filter, startedAt);
    this.#start = options.from ?? null;
    this.#walk = async () => {
      const { LeadWalk } = await import('./client/lead-walk.ts');
      return new LeadWalk(account, filter, options, startedAt);
    };
  }

  /**
   * Where the iteration is: a value for `JSON.stringify`, to be given as `from`, also after an error, a `break` or a new
   * start of the process. No id comes twice then, and none is left out by this client. A lead counts as handed out once
   * the loop has got it, so take it when the work on that lead is done. Its size, and the time that it takes, grow with
   * the number of leads so far. Null while nothing was read; from the checkpoint of a complete list nothing comes.
   */
  checkpoint(): Checkpoint | null {
    return this.#walked?.checkpoint() ?? this.#start;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<PulledLead, void, undefined> {
    if (this.#isTaken) {
      throw new UsageError('these leads were iterated before', {
        hint: 'call leads() again, with from: checkpoint() to go on where this iteration ended',
      });
    }
    this.#isTaken = true;
    this.#walked = await this.#walk();
    yield* this.#walked.leads();
  }
}
