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

/** A lead of the sandbox, whose text is made when it is asked for: a hundred thousand leads are there at once. */
export interface SandboxLead {
  readonly seq: number;
  readonly id: string;
  readonly category: string | undefined;
  readonly createdAt: number;
  /** A `DeliveryStatus`, unless the record came with a status of its own. */
  status: string;
  /** True when the record names a status of its own, which then is never overwritten. */
  readonly ownStatus?: boolean;
  text(): string;
}

class SeededLead implements SandboxLead {
  readonly seq: number;
  readonly createdAt: number;
  status: string;
  readonly #seed: number;
  #outline: Outline | undefined;

  constructor(seed: number, seq: number, createdAt: number, status: DeliveryStatus) {
    this.#seed = seed;
    this.seq = seq;
    this.createdAt = createdAt;
    this.status = status;
  }

  get id(): string {
    return this.#known.id;
  }

  get category(): string {
    return this.#known.category;
  }

  text(): string {
    return leadText(this.#seed, this.seq, this.#known, this.createdAt);
  }

  get #known(): Outline {
    return (this.#outline ??= outline(this.#seed, this.seq));
  }
}

export interface LeadSetStart {
  readonly seed: number;
  readonly count: number;
  /** The newest of them was created shortly before; in milliseconds. */
  readonly newest: number;
  readonly status: DeliveryStatus | 'mixed';
}

/** All leads, oldest first; those created at the same time stand in order of arrival. */
export class LeadSet {
  readonly #leads: SandboxLead[];
  readonly #seed: number;
  #byId: Map<string, SandboxLead> | undefined;

  constructor({ seed, count, newest, status }: LeadSetStart) {
    this.#seed = seed;
    this.#leads = Array.from({ length: count }, (_, i) => {
      const drawn = status === 'mixed' ? seededStatus(seed, i + 1) : status;
      return new SeededLead(seed, i + 1, seededTime(seed, i + 1, count, newest), drawn);
    });
  }

  get all(): readonly SandboxLead[] {
    return this.#leads;
  }

  get(id: string): SandboxLead | undefined {
    this.#byId ??= new Map(this.#leads.map((lead) => [lead.id, lead]));
    return this.#byId.get(id);
  }

  generate(createdAt: number): SandboxLead {
    return this.#insert(new SeededLead(this.#seed, this.#leads.length + 1, createdAt, 'new'));
  }

  /** A lead from outside. The caller has made sure that its id is not taken. */
  add(posted: PostedLead): SandboxLead {
    return this.#insert({ ...posted, seq: this.#leads.length + 1 });
  }

  #insert(lead: SandboxLead): SandboxLead {
    this.#leads.splice(countUntil(this.#leads, lead), 0, lead);
    this.#byId?.set(lead.id, lead);
    return lead;
  }
}

/** How many of these leads, which are in order, stand at or before this position in the order. */
export function countUntil(
  leads: readonly SandboxLead[],
  { createdAt, seq }: Pick<SandboxLead, 'createdAt' | 'seq'>,
): number {
  let [low, high] = [0, leads.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const lead = leads[middle];
    if (lead !== undefined && (lead.createdAt - createdAt || lead.seq - seq) > 0) high = middle;
    else low = middle + 1;
  }
  return low;
}

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
  // Its bytes are valid UTF-8, so that the text has them all.
  const text = Buffer.from(lead.bytes).toString();
  const record = JSON.parse(text) as Record<string, unknown>;
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
