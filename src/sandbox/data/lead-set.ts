import { readLead } from '../../lead/read-leads.ts';
import { parseIsoTime } from '../../time/time-text.ts';
import {
  type DeliveryStatus,
  leadText,
  type Outline,
  outline,
  seededStatus,
  seededTime,
  seqOf,
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
  /** The record's own bytes: what a webhook carries. */
  text(): Uint8Array;
}

/** The leads of the start: a million of them are a byte each, since everything but the status follows from the seed. */
interface Start {
  readonly seed: number;
  readonly newest: number;
  /** Places in `statuses`. */
  readonly statuses: Uint8Array;
}

const statuses: readonly string[] = ['new', 'delivered', 'failed'] satisfies DeliveryStatus[];

/** One of them, made when it is looked at. */
class SeededLead implements SandboxLead {
  readonly seq: number;
  readonly #start: Start;
  #outline: Outline | undefined;

  constructor(start: Start, seq: number) {
    this.#start = start;
    this.seq = seq;
  }

  get createdAt(): number {
    const { seed, newest, statuses } = this.#start;
    return seededTime(seed, this.seq, statuses.length, newest);
  }

  get status(): string {
    return statuses[this.#start.statuses[this.seq - 1] ?? 0] ?? 'new';
  }

  set status(status: string) {
    this.#start.statuses[this.seq - 1] = statuses.indexOf(status);
  }

  get id(): string {
    return this.#known.id;
  }

  get category(): string {
    return this.#known.category;
  }

  text(): Uint8Array {
    return leadText(this.#start.seed, this.seq, this.#known, this.createdAt);
  }

  get #known(): Outline {
    return (this.#outline ??= outline(this.#start.seed, this.seq));
  }
}

/** All leads, oldest first; those created at the same time stand in order of arrival. */
export class LeadSet {
  readonly #seed: number;
  #start: Start;
  /** Those that came since, in order, each with how many of the start stand before it. */
  #added: { readonly lead: SandboxLead; readonly before: number }[] = [];
  #byId = new Map<string, SandboxLead>();

  constructor(seed: number) {
    this.#seed = seed;
    this.#start = { seed, newest: 0, statuses: new Uint8Array(0) };
  }

  get size(): number {
    return this.#start.statuses.length + this.#added.length;
  }

  /** Position 0 is the oldest. */
  at(position: number): SandboxLead | undefined {
    if (position < 0 || position >= this.size) return undefined;
    const i = firstFrom(this.#added.length, (k) => k + (this.#added[k]?.before ?? 0) >= position);
    const added = this.#added[i];
    if (added !== undefined && i + added.before === position) return added.lead;
    // The times of the start grow with the numbers.
    return new SeededLead(this.#start, position - i + 1);
  }

  get(id: string): SandboxLead | undefined {
    const seq = seqOf(this.#seed, id);
    const isSeeded = seq !== undefined && seq >= 1 && seq <= this.#start.statuses.length;
    return isSeeded ? new SeededLead(this.#start, seq) : this.#byId.get(id);
  }

  /** Those at the positions from `start` to before `end`. */
  slice(start: number, end: number): SandboxLead[] {
    const length = Math.max(0, Math.min(end, this.size) - start);
    return Array.from({ length }, (_, i) => this.at(start + i)).filter((lead) => lead !== undefined);
  }

  *[Symbol.iterator](): Generator<SandboxLead> {
    for (let i = 0, lead = this.at(0); lead !== undefined; lead = this.at((i += 1))) yield lead;
  }

  /** Only the first `count` leads of the seed, the newest created shortly before `newest`. */
  restart(count: number, newest: number, status: DeliveryStatus | 'mixed'): void {
    const indexOf = (seq: number): number =>
      statuses.indexOf(status === 'mixed' ? seededStatus(this.#seed, seq) : status);
    this.#start = { seed: this.#seed, newest, statuses: new Uint8Array(count).map((_, i) => indexOf(i + 1)) };
    this.#added = [];
    this.#byId = new Map();
  }

  /** The seed's next lead. */
  generate(createdAt: number): SandboxLead {
    const seq = this.size + 1;
    const known = outline(this.#seed, seq);
    return this.add({
      ...known,
      createdAt,
      status: 'new',
      text: () => leadText(this.#seed, seq, known, createdAt),
    });
  }

  /** A lead from outside. The caller has made sure that its id is not taken. */
  add(posted: PostedLead): SandboxLead {
    const lead = { ...posted, seq: this.size + 1 };
    const before = this.#startUntil(lead.createdAt, lead.seq);
    this.#added.splice(this.#addedUntil(lead.createdAt, lead.seq), 0, { lead, before });
    this.#byId.set(lead.id, lead);
    return lead;
  }

  /** How many leads stand at or before this position in the order. */
  positionAfter(createdAt: number, seq: number): number {
    return this.#startUntil(createdAt, seq) + this.#addedUntil(createdAt, seq);
  }

  #startUntil(createdAt: number, seq: number): number {
    const { seed, newest, statuses } = this.#start;
    return firstFrom(statuses.length, (i) => {
      return (seededTime(seed, i + 1, statuses.length, newest) - createdAt || i + 1 - seq) > 0;
    });
  }

  #addedUntil(createdAt: number, seq: number): number {
    return firstFrom(this.#added.length, (i) => {
      const lead = this.#added[i]?.lead;
      return lead !== undefined && (lead.createdAt - createdAt || lead.seq - seq) > 0;
    });
  }
}

/** The first of so many positions that is behind; all those before it are not. */
function firstFrom(count: number, isBehind: (position: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBehind(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
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
