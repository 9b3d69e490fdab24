import type { DueLead, StoredRef, TargetLease } from '../inbox.ts';
import { DueQueue, type Queued } from './due-queue.ts';

/** A lead and one of its targets. Times are milliseconds since the epoch. */
interface TargetWork extends Queued {
  readonly target: string;
  readonly lead: StoredRef;
  readonly firstAt: number;
  tries: number;
  since: number;
  dueAt: number;
  /** Nobody else can hold a lease here; until then this receiver tries it. */
  leasedUntil: number;
  dead: boolean;
}

/** What is outstanding in a store in memory, by target and by lead. */
export class OutstandingWork {
  readonly #byTarget = new Map<string, Map<string, TargetWork>>();
  /** Without what is dead. */
  readonly #queues = new Map<string, DueQueue<TargetWork>>();
  readonly #leaseMs: number;

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  find(leadId: string, target: string): TargetWork | undefined {
    return this.#byTarget.get(target)?.get(leadId);
  }

  of(leadId: string): readonly TargetWork[] {
    return [...this.#byTarget.values()].flatMap((leads) => leads.get(leadId) ?? []);
  }

  on(target: string): readonly TargetWork[] {
    return [...(this.#byTarget.get(target)?.values() ?? [])];
  }

  all(): readonly TargetWork[] {
    return [...this.#byTarget.keys()].flatMap((target) => this.on(target));
  }

  has(leadId: string, isWanted: (work: TargetWork) => boolean = () => true): boolean {
    for (const leads of this.#byTarget.values()) {
      const work = leads.get(leadId);
      if (work !== undefined && isWanted(work)) return true;
    }
    return false;
  }

  /** Leases it to this receiver. */
  grant(lead: StoredRef, firstAt: number, target: string, now: number): void {
    const leads = this.#byTarget.get(target) ?? new Map<string, TargetWork>();
    this.#byTarget.set(target, leads);
    let work = leads.get(lead.leadId);
    const leasedUntil = now + this.#leaseMs;
    if (work !== undefined) work.leasedUntil = leasedUntil;
    else {
      const fresh = { tries: 0, since: now, dueAt: now, leasedUntil, dead: false, place: -1 };
      work = { target, lead, firstAt, ...fresh };
      leads.set(lead.leadId, work);
    }
    this.#queue(work);
  }

  release({ leadId, target, result, retryAt, dead, since }: TargetLease): void {
    const work = this.find(leadId, target);
    if (work === undefined) return;
    if (result !== undefined) work.tries += 1;
    work.dueAt = retryAt ?? work.dueAt;
    work.dead ||= dead === true && (since ?? work.since) === work.since;
    work.leasedUntil = 0;
    this.#queue(work);
  }

  /** Once the target has had it; left out: whatever is outstanding of the lead. */
  remove(leadId: string, target?: string): void {
    for (const [name, leads] of this.#byTarget) {
      const work = target === undefined || name === target ? leads.get(leadId) : undefined;
      if (work === undefined) continue;
      leads.delete(leadId);
      this.#queues.get(name)?.remove(work);
    }
  }

  due(target: string, by: number, limit: number): readonly DueLead[] {
    const due = this.#queues.get(target)?.earliest(limit, (work) => freeAt(work) <= by) ?? [];
    return due.map(dueLead);
  }

  /** Those of these leads. */
  dueOf(leadIds: readonly string[], target: string, by: number): readonly DueLead[] {
    const work = leadIds.flatMap((leadId) => this.find(leadId, target) ?? []);
    const due = work.filter((one) => !one.dead && freeAt(one) <= by);
    return due.sort((a, b) => freeAt(a) - freeAt(b)).map(dueLead);
  }

  nextDueAt(target: string): number | undefined {
    const first = this.#queues.get(target)?.first;
    return first && freeAt(first);
  }

  beginAnew(leadId: string, now: number): boolean {
    const begun = this.of(leadId);
    for (const work of begun) {
      work.since = now;
      work.dueAt = now;
      work.dead = false;
      this.#queue(work);
    }
    return begun.length > 0;
  }

  #queue(work: TargetWork): void {
    const queue = this.#queues.get(work.target) ?? new DueQueue<TargetWork>(isBefore);
    this.#queues.set(work.target, queue);
    if (work.dead) queue.remove(work);
    else queue.put(work);
  }
}

const freeAt = ({ dueAt, leasedUntil }: TargetWork): number => Math.max(dueAt, leasedUntil);

const dueLead = (work: TargetWork): DueLead => ({
  ...work.lead,
  tries: work.tries,
  since: work.since,
  dueAt: freeAt(work),
});

const isBefore = (a: TargetWork, b: TargetWork): boolean => freeAt(a) < freeAt(b);
