import { drawFor } from './chance.ts';
import { leadText, outline, seededTime } from './generate.ts';

/** Where the delivery of a lead stands; shown by the list operation as `status`. */
export type DeliveryStatus = 'new' | 'delivered' | 'failed';

/** One lead of the sandbox. */
export interface SandboxLead {
  /** Order of arrival, from 1. */
  readonly seq: number;
  readonly id: string;
  readonly category: string | undefined;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** A `DeliveryStatus`, unless the record came with a status of its own. */
  status: string;
  /** True when the record names a status of its own, which then is never overwritten. */
  readonly ownStatus?: boolean;
  /** The record's own bytes: what a webhook carries. Made when first needed. */
  text(): Uint8Array;
}

/** All leads, oldest first; those created at the same time stand in order of arrival. */
export class LeadSet {
  readonly #seed: number;
  #ordered: SandboxLead[] = [];
  #byId: Map<string, SandboxLead> | undefined;
  #seq = 0;

  constructor(seed: number) {
    this.#seed = seed;
  }

  get size(): number {
    return this.#ordered.length;
  }

  /** Position 0 is the oldest. */
  at(position: number): SandboxLead | undefined {
    return this.#ordered[position];
  }

  get(id: string): SandboxLead | undefined {
    this.#byId ??= new Map(this.#ordered.map((lead) => [lead.id, lead]));
    return this.#byId.get(id);
  }

  [Symbol.iterator](): Iterator<SandboxLead> {
    return this.#ordered[Symbol.iterator]();
  }

  /** The first `count` leads of the seed, the newest created shortly before `newest`. */
  seed(count: number, newest: number, status: DeliveryStatus | 'mixed'): void {
    for (let seq = 1; seq <= count; seq += 1) {
      this.generate(
        seededTime(this.#seed, seq, count, newest),
        status === 'mixed' ? this.#mixedStatus(seq) : status,
      );
    }
  }

  /** The seed's next lead. */
  generate(createdAt: number, status: DeliveryStatus = 'new'): SandboxLead {
    const seq = this.#seq + 1;
    const about = outline(this.#seed, seq);
    let text: Buffer | undefined;
    return this.add({
      ...about,
      createdAt,
      status,
      text: () => (text ??= leadText(this.#seed, seq, about, createdAt)),
    });
  }

  /** A lead from outside. The caller has made sure that its id is not taken. */
  add(lead: Omit<SandboxLead, 'seq'>): SandboxLead {
    this.#seq += 1;
    const added = Object.assign(lead, { seq: this.#seq });
    this.#ordered.splice(this.positionAfter(added.createdAt, added.seq), 0, added);
    this.#byId?.set(added.id, added);
    return added;
  }

  clear(): void {
    this.#ordered = [];
    this.#byId = undefined;
    this.#seq = 0;
  }

  /** How many leads stand at or before this place in the order. */
  positionAfter(createdAt: number, seq: number): number {
    let low = 0;
    let high = this.#ordered.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const lead = this.#ordered[middle];
      if (lead !== undefined && (lead.createdAt - createdAt || lead.seq - seq) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #mixedStatus(seq: number): DeliveryStatus {
    const drawn = drawFor(this.#seed, `status ${seq}`);
    return drawn < 0.2 ? 'new' : drawn < 0.97 ? 'delivered' : 'failed';
  }
}
