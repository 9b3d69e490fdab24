import type { IncomingMessage, ServerResponse } from 'node:http';
import { respond } from '../../support/moving-service.ts';
import type { Owner, SimSocket } from '../kernel/network.ts';
import type { Random } from '../kernel/random.ts';
import type { Scheduler } from '../kernel/scheduler.ts';
import type { Plan, ServiceFault } from './plan.ts';
import type { TrueLead, Truth } from './truth.ts';

/** The key that every request to the service carries: it stands in no output. */
export const apiKey = 'sk_simulated_0123456789abcdef';

/** Serves the true leads, newest first, in pages of the plan's style, while they change. */
export class Service {
  readonly #truth: Truth;
  readonly #plan: Plan;
  readonly #random: Random;
  readonly #scheduler: Scheduler;
  /** Newest first. */
  readonly #list: string[] = [];
  /** The place of each in an order that never changes. */
  readonly #born = new Map<string, number>();
  /** As the list shows each. */
  readonly #records = new Map<string, object>();
  readonly #repeats: 'in front' | 'far in front' | 'behind';
  readonly #faults = new Map<ServiceFault, number>();
  /** When each process was told to come again. */
  #retryAt = new WeakMap<Owner, number>();
  /** Called for each request with the process that sent it. */
  onRequest: ((client: Owner) => void) | undefined;
  /** Called to add a lead. */
  onCreate: (() => void) | undefined;
  /** Requests that came before their process was allowed to. */
  tooEarly = 0;

  constructor(truth: Truth, plan: Plan, random: Random, scheduler: Scheduler) {
    this.#truth = truth;
    this.#plan = plan;
    this.#random = random;
    this.#repeats = random.pick(['in front', 'far in front', 'behind'] as const);
    this.#scheduler = scheduler;
  }

  add(made: Pick<TrueLead, 'id' | 'createdAt' | 'email' | 'body'>): TrueLead {
    const record = { ...(JSON.parse(made.body) as object), status: 'new' };
    const lead: TrueLead = { ...made, listed: JSON.stringify(record) };
    this.#records.set(lead.id, record);
    this.#truth.leads.set(lead.id, lead);
    this.#born.set(lead.id, -this.#born.size);
    this.#list.unshift(lead.id);
    return lead;
  }

  delete(id: string): void {
    const lead = this.#truth.leads.get(id);
    const at = this.#list.indexOf(id);
    if (lead === undefined || at < 0) return;
    this.#list.splice(at, 1);
    lead.deletedAt = this.#scheduler.now;
  }

  break(fault: ServiceFault, forMs: number): void {
    this.#faults.set(fault, this.#scheduler.now + forMs);
  }

  heal(): void {
    this.#faults.clear();
    this.#retryAt = new WeakMap();
  }

  #has(fault: ServiceFault): boolean {
    return (this.#faults.get(fault) ?? 0) > this.#scheduler.now;
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const waitMs = this.#has('slow') ? this.#random.between(500, 8_000) : this.#random.between(1, 40);
    const arrivedAt = this.#scheduler.now;
    this.onRequest?.(clientOf(request));
    this.#scheduler.after(waitMs, () => this.#answer(request, response, arrivedAt));
  }

  #answer(request: IncomingMessage, response: ServerResponse, arrivedAt: number): void {
    if (response.destroyed) return;
    if (request.headers.authorization !== `Bearer ${apiKey}`) {
      response.writeHead(401, json).end('{"error":"unauthorized","message":"no such key"}');
      return;
    }
    const client = clientOf(request);
    if (arrivedAt < (this.#retryAt.get(client) ?? 0)) this.tooEarly += 1;
    if (this.#has('down') && this.#random.chance(0.7)) {
      response.writeHead(503, json).end('{"error":"unavailable","message":"try again"}');
      return;
    }
    if (this.#has('limited') && this.#random.chance(0.4)) {
      const seconds = this.#random.between(1, 9);
      this.#retryAt.set(client, this.#scheduler.now + seconds * 1000);
      response
        .writeHead(429, { ...json, 'retry-after': String(seconds) })
        .end('{"error":"rate_limited","message":"slower"}');
      return;
    }
    if (this.#has('cut') && this.#random.chance(0.25)) {
      response.writeHead(200, { ...json, 'content-length': '5000' });
      response.write('{"data":[{"id":"le', () => this.#scheduler.after(5, () => response.destroy()));
      return;
    }
    // The list changes between two pages of a walk.
    if (this.#has('creates') && this.#random.chance(0.3)) this.onCreate?.();
    if (this.#has('deletes') && this.#random.chance(0.3) && this.#list.length > fewest)
      this.delete(this.#random.pick(this.#list));
    respond(request, response, this.#list, this.#born, {
      style: this.#plan.style,
      cap: this.#plan.pageCap,
      record: (id) => this.#records.get(id) ?? {},
      repeats: this.#has('repeats') ? this.#repeats : undefined,
    });
  }
}

const nobody: Owner = { isAlive: true, sockets: new Set() };

const clientOf = (request: IncomingMessage): Owner =>
  (request.socket as unknown as SimSocket).peerOwner ?? nobody;

/** So many leads stay in the list. */
const fewest = 20;

const json = { 'content-type': 'application/json' };
