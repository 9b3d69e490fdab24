import type { DueLead, StoredRef, TargetLease } from '../inbox.ts';

/** A lead and one of its targets. Times are milliseconds since the epoch. */
interface TargetWork {
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

  on(target: string): Iterable<TargetWork> {
    return this.#byTarget.get(target)?.values() ?? [];
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
    const found = leads.get(lead.leadId);
    const leasedUntil = now + this.#leaseMs;
    if (found !== undefined) found.leasedUntil = leasedUntil;
    else {
      const begun = { tries: 0, since: now, dueAt: now, leasedUntil, dead: false };
      leads.set(lead.leadId, { target, lead, firstAt, ...begun });
    }
  }

  release({ leadId, target, result, retryAt, dead }: TargetLease): void {
    const work = this.find(leadId, target);
    if (work === undefined) return;
    if (result !== undefined) work.tries += 1;
    work.dueAt = retryAt ?? work.dueAt;
    work.dead ||= dead === true;
    work.leasedUntil = 0;
  }

  /** Once the target has had it; left out: whatever is outstanding of the lead. */
  remove(leadId: string, target?: string): void {
    for (const [name, leads] of this.#byTarget) {
      if (target === undefined || name === target) leads.delete(leadId);
    }
  }

  due(target: string, by: number, limit: number): readonly DueLead[] {
    return [...this.on(target)]
      .filter((work) => !work.dead && freeAt(work) <= by)
      .sort((a, b) => freeAt(a) - freeAt(b))
      .slice(0, limit)
      .map((work) => ({ ...work.lead, tries: work.tries, since: work.since, dueAt: freeAt(work) }));
  }

  nextDueAt(target: string): number | undefined {
    let next = Number.POSITIVE_INFINITY;
    for (const work of this.on(target)) if (!work.dead) next = Math.min(next, freeAt(work));
    return Number.isFinite(next) ? next : undefined;
  }

  beginAnew(leadId: string, now: number): void {
    for (const work of this.of(leadId)) {
      work.since = now;
      work.dueAt = now;
      work.dead = false;
    }
  }
}

const freeAt = ({ dueAt, leasedUntil }: TargetWork): number => Math.max(dueAt, leasedUntil);
