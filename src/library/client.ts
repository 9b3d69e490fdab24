import { parseBaseUrl } from '../config/base-url.ts';
import { checkClientOptions, type ClientOptions } from './client/client-options.ts';
import { LeadIteration } from './client/lead-iteration.ts';
import type { LeadsOptions } from './client/leads-options.ts';
import type { LeadFilterOptions } from './client/resolve-filter-options.ts';
import { RateGate } from '../service/client/rate-gate.ts';
import { systemClock } from '../time/clock.ts';

export type { Dialect, ParameterName } from '../config/dialect.ts';
export { ConfigError, DataError, KeyRejectedError, LeadsError, ServiceError, UsageError } from '../errors.ts';
export { IncompleteError } from '../service/listing/evidence/completion.ts';
export type { Checkpoint } from './client/lead-checkpoint.ts';
export type { ClientOptions } from './client/client-options.ts';
export type { LeadIteration } from './client/lead-iteration.ts';
export type { LeadsOptions } from './client/leads-options.ts';
export type { LeadFilterOptions } from './client/resolve-filter-options.ts';
export type { PulledLead } from './client/pulled-lead.ts';

/** One account at one service. Holds no connection while no iteration runs, so there is nothing to close. */
export interface Client {
  /**
   * Every lead of the service that matches, each id once, in the service's order. Throws a `UsageError` at once for a
   * filter that cannot be read. Iterating ends normally only when the list was complete; it throws
   *
   * - `IncompleteError` after the last lead that came, when the service did not show that it was the last one;
   * - `KeyRejectedError` when the service refused the key (401, 403);
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
 * Throws a `ConfigError` or a `UsageError` at once for options that cannot work, such as plain http beyond loopback.
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
