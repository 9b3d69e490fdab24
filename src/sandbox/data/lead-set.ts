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

/**
 * A lead that is served and delivered. `seq` numbers the leads in order of arrival, from 1; `createdAt` is in
 * milliseconds since the epoch; a record with a status of its own keeps it.
 */
export interface SandboxLead {
  readonly seq: number;
  readonly id: string;
  readonly category: string | undefined;
  readonly createdAt: number;
  status: string;
  readonly hasOwnStatus?: boolean;
  text(): string;
}

/** Makes its id and its text when they are needed, so that a hundred thousand leads are ready at once. */
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

/** The newest lead is up to a quarter of an hour older than `newest`, in milliseconds since the epoch. */
export interface LeadSetStart {
  readonly seed: number;
  readonly count: number;
  readonly newest: number;
  readonly status: DeliveryStatus | 'mixed';
}

/** Oldest first; leads with the same time are in order of arrival. */
export class LeadSet {
  readonly #leads: SandboxLead[];
  readonly #seed: number;
  /** Undefined until the first look-up, since it makes all ids. */
  #byId: Map<string, SandboxLead> | undefined;

  constructor({ seed, count, newest, status }: LeadSetStart) {
    this.#seed = seed;
    this.#leads = Array.from({ length: count }, (_, i) => {
      const seq = i + 1;
      const leadStatus = status === 'mixed' ? seededStatus(seed, seq) : status;
      return new SeededLead(seed, seq, seededTime(seed, seq, count, newest), leadStatus);
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

/** Counts the leads at or before this place in the order, by binary search. */
export function countUntil(
  leads: readonly SandboxLead[],
  { createdAt, seq }: Pick<SandboxLead, 'createdAt' | 'seq'>,
): number {
  let [low, high] = [0, leads.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const lead = leads[middle];
    const distance = lead === undefined ? 0 : lead.createdAt - createdAt || lead.seq - seq;
    if (distance > 0) high = middle;
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
    ...(status !== undefined && { hasOwnStatus: true }),
    text: () => text,
  };
}
