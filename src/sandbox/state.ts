import type { Clock } from '../time/clock.ts';
import type { Poster } from '../http/client/post.ts';
import { DataError } from '../errors.ts';
import { unverified } from '../webhook/schemes/unverified.ts';
import { hashText } from './data/seeded-random.ts';
import { Deliveries } from './deliveries/deliveries.ts';
import type { Attempt } from './deliveries/attempt.ts';
import { refuseImpossible } from './deliveries/sign.ts';
import { type ApiFault, Chaos, type DeliveryFault, type Faults } from './faults.ts';
import { type PostedLead, readPostedLead } from './control/read-posted-lead.ts';
import { LeadSet, type SandboxLead } from './data/lead-set.ts';
import type { ApiOptions } from './api/api-options.ts';
import { rateLimit, type RateLimit } from './api/rate-limit.ts';
import { type LoggedRequest, RequestLog } from './api/request-log.ts';
import type { SandboxOptions } from './sandbox-options.ts';

interface Means {
  readonly clock: Clock;
  readonly poster: Poster;
  readonly observe?: (happened: LoggedRequest | Attempt) => void;
}

/** Everything one sandbox knows and can do; the list operation and the control endpoints are two views of it. */
export class SandboxState {
  readonly api: ApiOptions;
  readonly seed: number;
  readonly leads: LeadSet;
  readonly requests = new RequestLog();
  readonly apiChaos: Chaos<ApiFault>;
  readonly deliveryChaos: Chaos<DeliveryFault>;
  readonly deliveries: Deliveries;
  limit: RateLimit;
  readonly #options: SandboxOptions;
  readonly #clock: Clock;
  readonly #observe: (happened: LoggedRequest | Attempt) => void;

  constructor(options: SandboxOptions, api: ApiOptions, means: Means) {
    const { clock, poster, observe = () => undefined } = means;
    this.#options = options;
    this.#clock = clock;
    this.#observe = observe;
    this.api = api;
    this.seed = hashText(String(options.seed ?? 1));
    this.leads = new LeadSet(this.seed);
    this.limit = rateLimit(api.rateLimit, () => clock.now());
    this.apiChaos = new Chaos(this.seed, options.faults ?? {});
    this.deliveryChaos = new Chaos(this.seed, {});
    const { webhook } = options;
    this.deliveries = new Deliveries({
      targets: webhook?.targets ?? [],
      signer: webhook?.signer ?? { scheme: unverified, key: undefined },
      seed: this.seed,
      chaos: this.deliveryChaos,
      retryMs: webhook?.retryMs ?? [1000, 5000, 30_000],
      timeoutMs: webhook?.timeoutMs ?? 10_000,
      concurrency: webhook?.concurrency ?? 8,
      poster,
      clock,
      observe,
    });
    this.setDeliveryFaults(options.deliveryFaults ?? {});
  }

  /** Of the webhooks' scheme. */
  get credentialHeaders(): readonly string[] {
    return this.#options.webhook?.signer.scheme.credentialHeaders ?? [];
  }

  now(): number {
    return this.#clock.now();
  }

  logged(request: LoggedRequest): void {
    this.requests.add(request);
    this.#observe(request);
  }

  /** Throws a `ConfigError` for a fault that the scheme cannot show. */
  setDeliveryFaults(faults: Faults<DeliveryFault>): void {
    const signer = this.#options.webhook?.signer;
    if (signer !== undefined) refuseImpossible(signer, faults);
    this.deliveryChaos.faults = faults;
  }

  /** The seed's next lead, on its way at once. */
  generate(): SandboxLead {
    const lead = this.leads.generate(this.now());
    this.deliveries.deliver(lead);
    return lead;
  }

  /** A lead from outside in its own bytes; a sentence when it cannot be taken. */
  add(bytes: Uint8Array): SandboxLead | { readonly problem: string; readonly taken?: boolean } {
    const given = this.#given(bytes);
    if ('problem' in given) return given;
    const lead = this.leads.add(given);
    this.deliveries.deliver(lead);
    return lead;
  }

  /**
   * Puts the leads in that there are at the start. With a webhook all are new, and delivered oldest first. Throws a
   * `DataError` for a record that is no lead.
   */
  begin(): void {
    const { leads = 250, newest, records, webhook } = this.#options;
    if (webhook?.paused === true) this.deliveries.pause();
    else this.deliveries.resume();
    const hasTargets = (webhook?.targets.length ?? 0) > 0;
    if (records === undefined) {
      const midnight = Math.floor(this.now() / 86_400_000) * 86_400_000;
      this.leads.seed(leads, newest ?? midnight, hasTargets ? 'new' : 'mixed');
    }
    for (const [i, bytes] of (records ?? []).entries()) {
      const given = this.#given(bytes);
      if ('problem' in given) throw new DataError(`lead ${i + 1} cannot be served: ${given.problem}`);
      this.leads.add(given);
    }
    if (hasTargets) for (const lead of this.leads) this.deliveries.deliver(lead);
  }

  /** Back to the start: leads, truth, faults, and whether deliveries wait. */
  reset(): void {
    this.deliveries.clear();
    this.leads.clear();
    this.requests.clear();
    this.apiChaos.injected.clear();
    this.deliveryChaos.injected.clear();
    this.apiChaos.faults = this.#options.faults ?? {};
    this.deliveryChaos.faults = this.#options.deliveryFaults ?? {};
    this.limit = rateLimit(this.api.rateLimit, () => this.now());
    this.begin();
  }

  #given(bytes: Uint8Array): PostedLead | { readonly problem: string; readonly taken?: boolean } {
    const given = readPostedLead(bytes, this.api.statusField, this.now());
    if (!('problem' in given) && this.leads.get(given.id) !== undefined) {
      return { problem: `there is already a lead with the id ${given.id}`, taken: true };
    }
    return given;
  }
}
