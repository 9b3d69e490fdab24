import { readLead } from '../../lead/read-leads.ts';
import { parseIsoTime } from '../../time/time-text.ts';
import {
  type DeliveryStatus,
  leadText,
  type Outline,
  outline,
  seededStatus,
  seededTime,
} from './generate-lead.ts';

export type { DeliveryStatus } from './generate-lead.ts';

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

/** A lead of the seed. Its text is made when it is first needed, because most texts never are. */
class GeneratedLead implements SandboxLead {
  readonly seq: number;
  readonly createdAt: number;
  status: string;
  readonly #seed: number;
  readonly #outline: Outline;
  #text: Uint8Array | undefined;

  constructor(seed: number, seq: number, createdAt: number, status: DeliveryStatus) {
    this.#seed = seed;
    this.seq = seq;
    this.createdAt = createdAt;
    this.status = status;
    this.#outline = outline(seed, seq);
  }

  get id(): string {
    return this.#outline.id;
  }

  get category(): string {
    return this.#outline.category;
  }

  text(): Uint8Array {
    return (this.#text ??= leadText(this.#seed, this.seq, this.#outline, this.createdAt));
  }
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
      const createdAt = seededTime(this.#seed, seq, count, newest);
      this.generate(createdAt, status === 'mixed' ? seededStatus(this.#seed, seq) : status);
    }
  }

  /** The seed's next lead. */
  generate(createdAt: number, status: DeliveryStatus = 'new'): SandboxLead {
    return this.#insert(new GeneratedLead(this.#seed, this.#nextSeq(), createdAt, status));
  }

  /** A lead from outside. The caller has made sure that its id is not taken. */
  add(lead: Omit<SandboxLead, 'seq'>): SandboxLead {
    return this.#insert({ ...lead, seq: this.#nextSeq() });
  }

  clear(): void {
    this.#ordered = [];
    this.#byId = undefined;
    this.#seq = 0;
  }

  /** How many leads stand at or before this position in the order. */
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

  #insert(lead: SandboxLead): SandboxLead {
    const last = this.#ordered.at(-1);
    if (last === undefined || last.createdAt <= lead.createdAt) this.#ordered.push(lead);
    else this.#ordered.splice(this.positionAfter(lead.createdAt, lead.seq), 0, lead);
    this.#byId?.set(lead.id, lead);
    return lead;
  }

  #nextSeq(): number {
    this.#seq += 1;
    return this.#seq;
  }
}

/** A lead from outside: posted to the sandbox, or read from a file. */
export type PostedLead = Omit<SandboxLead, 'seq'>;

/** The lead in its own bytes, or one sentence on why it is not a lead. `now` stands in for a missing `createdAt`. */
export function readPostedLead(
  bytes: Uint8Array,
  statusField: string,
  now: number,
): PostedLead | { problem: string } {
  const reading = readLead(bytes);
  if (!reading.ok) return { problem: reading.detail };
  const { lead } = reading;
  const text = lead.bytes;
  const record = JSON.parse(Buffer.from(text).toString('utf8')) as Record<string, unknown>;
  const status = record[statusField];
  return {
    id: lead.id ?? '',
    category: lead.category,
    createdAt: (lead.createdAt === undefined ? undefined : parseIsoTime(lead.createdAt)) ?? now,
    status: typeof status === 'string' ? status : 'new',
    ...(status !== undefined && { ownStatus: true }),
    text: () => text,
  };
}
