import type { IncomingMessage, ServerResponse } from 'node:http';
import { respond } from '../../support/moving-service.ts';
import type { Owner, SimSocket } from '../kernel/network.ts';
import { type Random, randomOf } from '../kernel/random.ts';
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
  /** As the list shows each now. */
  readonly #records = new Map<string, object>();
  readonly #editRandom: Random;
  #edits = 0;
  readonly #repeats: 'in front' | 'far in front' | 'behind';
  readonly #faults = new Map<ServiceFault, number>();
  /** When each process was told to come again. */
  #retryAt = new WeakMap<Owner, number>();
  /** Called for each request with the process that sent it. */
  onRequest: ((client: Owner) => void) | undefined;
  /** Called with the ids on each page that a process is given. */
  onPage: ((client: Owner, ids: readonly string[]) => void) | undefined;
  /** Called once a lead was edited. */
  onEdit: ((lead: TrueLead, what: string) => void) | undefined;
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
    this.#editRandom = randomOf(plan.seed, 'edits');
  }

  add(made: Pick<TrueLead, 'id' | 'createdAt' | 'email' | 'body'>): TrueLead {
    const lead: TrueLead = { ...made, formerBodies: [], versions: [] };
    this.#show(lead, JSON.parse(lead.body) as object, 'new');
    this.#truth.leads.set(lead.id, lead);
    this.#born.set(lead.id, -this.#born.size);
    this.#list.unshift(lead.id);
    return lead;
  }

  #show(lead: TrueLead, fields: object, status: string): void {
    const record = { ...fields, status };
    this.#records.set(lead.id, record);
    lead.versions.push({ since: this.#scheduler.now, listed: JSON.stringify(record) });
  }

  /** Somebody works with a lead: its status changes, or a field of it, and it stays where it is. */
  #edit(): void {
    const random = this.#editRandom;
    // Deliveries of the newest ones may be under way.
    const lead = this.#truth.leads.get(
      random.pick(random.chance(0.5) ? this.#list.slice(0, newest) : this.#list),
    );
    if (lead === undefined) return;
    const { status, ...fields } = this.#records.get(lead.id) as EditedRecord;
    const what = random.pick(['status', 'note', 'phone', 'all'] as const);
    this.#edits += 1;
    const edited = {
      ...fields,
      ...(what === 'phone' || what === 'all'
        ? { contact: { ...fields.contact, phone: `+49 40 ${this.#edits}` } }
        : {}),
      ...(what === 'note' || what === 'all'
        ? { metadata: { ...fields.metadata, note: `call ${this.#edits}` } }
        : {}),
    };
    const state = what === 'status' || what === 'all' ? random.pick(['contacted', 'won', 'lost']) : status;
    this.#show(lead, edited, state);
    this.onEdit?.(lead, what);
    if (this.#plan.retries !== 'as-edited' || what === 'status') return;
    lead.formerBodies.push(lead.body);
    lead.body = JSON.stringify(edited);
  }

  /** From time to time, as long as somebody works with the leads; and between the pages of a walk. */
  #goOnEditing(): void {
    this.#scheduler.after(this.#editRandom.between(1_000, 15_000), () => {
      if (!this.#isEdited) return;
      if (this.#list.length > 0) this.#edit();
      this.#goOnEditing();
    });
  }

  get #isEdited(): boolean {
    return this.#has('edits');
  }

  delete(id: string): void {
    const lead = this.#truth.leads.get(id);
    const at = this.#list.indexOf(id);
    if (lead === undefined || at < 0) return;
    this.#list.splice(at, 1);
    lead.deletedAt = this.#scheduler.now;
  }

  break(fault: ServiceFault, forMs: number): void {
    if (fault === 'edits' && !this.#isEdited) this.#goOnEditing();
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
    if (this.#isEdited && this.#editRandom.chance(0.4) && this.#list.length > 0) this.#edit();
    const ids = respond(request, response, this.#list, this.#born, {
      style: this.#plan.style,
      cap: this.#plan.pageCap,
      record: (id) => this.#records.get(id) ?? {},
      repeats: this.#has('repeats') ? this.#repeats : undefined,
    });
    this.onPage?.(client, ids);
  }
}

const nobody: Owner = { isAlive: true, sockets: new Set() };

const clientOf = (request: IncomingMessage): Owner =>
  (request.socket as unknown as SimSocket).peerOwner ?? nobody;

interface EditedRecord {
  readonly status: string;
  readonly contact: object;
  readonly metadata: object;
}

const newest = 6;

/** So many leads stay in the list. */
const fewest = 20;

const json = { 'content-type': 'application/json' };
