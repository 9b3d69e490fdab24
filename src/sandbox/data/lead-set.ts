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

/** The text of a lead is made when it is needed, so that a hundred thousand leads are ready at once. */
export interface SandboxLead {
  readonly seq: number;
  readonly id: string;
  readonly category: string | undefined;
  readonly createdAt: number;
  status: string;
  /** The record has its own status, which is never overwritten. */
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
    return this.#lazyOutline.id;
  }

  get category(): string {
    return this.#lazyOutline.category;
  }

  text(): string {
    return leadText(this.#seed, this.seq, this.#lazyOutline, this.createdAt);
  }

  get #lazyOutline(): Outline {
    return (this.#outline ??= outline(this.#seed, this.seq));
  }
}

export interface LeadSetStart {
  readonly seed: number;
  readonly count: number;
  /** In milliseconds; the newest lead is up to a quarter of an hour older. */
  readonly newest: number;
  readonly status: DeliveryStatus | 'mixed';
}

/** Oldest first; leads with the same time are in order of arrival. */
export class LeadSet {
  readonly #leads: SandboxLead[];
  readonly #seed: number;
  #byId: Map<string, SandboxLead> | undefined;

  constructor({ seed, count, newest, status }: LeadSetStart) {
    this.#seed = seed;
    this.#leads = Array.from({ length: count }, (_, i) => {
      const leadStatus = status === 'mixed' ? seededStatus(seed, i + 1) : status;
      return new SeededLead(seed, i + 1, seededTime(seed, i + 1, count, newest), leadStatus);
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

  /** The caller has checked that the id is free. */
  add(posted: PostedLead): SandboxLead {
    return this.#insert({ ...posted, seq: this.#leads.length + 1 });
  }

  #insert(lead: SandboxLead): SandboxLead {
    this.#leads.splice(countUntil(this.#leads, lead), 0, lead);
    this.#byId?.set(lead.id, lead);
    return lead;
  }
}

/** Counts the leads at or before this position in the order. */
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

/**
 * Keeps the lead's own bytes, or returns a sentence on why it is not a lead. `now` replaces a missing
 * `createdAt`.
 */
export function readPostedLead(
  bytes: Uint8Array,
  statusField: string,
  now: number,
): PostedLead | { problem: string } {
  const reading = readLead(bytes);
  if (!reading.ok) return { problem: reading.detail };
  const { lead } = reading;
  // The bytes are valid UTF-8, so the text loses none of them.
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
