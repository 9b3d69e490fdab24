import { setImmediate } from 'node:timers/promises';
import type { ReceivedLead } from '../inbox/query-types.ts';
import { type AuditTimes, classifyLead, type UnreceivedClass } from './classify-lead.ts';
import { differingFields, type Uncompared } from './compare-payloads.ts';
import type { ReceivedSide } from './received-leads.ts';
import { FindingSpool, LeadSpool, type TemporaryLead } from './temporary-leads.ts';

interface ComparisonOptions {
  readonly received: ReceivedSide;
  readonly times: AuditTimes;
  readonly uncompared: Uncompared;
}

interface FoundLead {
  readonly lead: TemporaryLead;
  readonly found: ReceivedLead;
}

/** Leads looked up at once: what a batch leaves behind is collected before it is moved to where long-lived objects are. */
export const batchSize = 250;

/** Compares pulled leads with what was received, batch by batch, and keeps what it finds. */
export class LeadComparer {
  readonly findings = new FindingSpool();
  /** The leads that are not in the inbox. */
  readonly unreceived: Readonly<Record<UnreceivedClass, LeadSpool>> = {
    refused: new LeadSpool(),
    missing: new LeadSpool(),
  };
  /** The numbers of the received leads that were pulled. */
  readonly pulledSeqs = new BitSet();
  readonly counts = {
    pulled: 0,
    /** Leads that are on both sides. */
    matched: 0,
    /** Leads on both sides that were fetched and never pushed. */
    backfilled: 0,
    /** Leads on both sides whose bytes differ, while the received ones were pruned. */
    notCompared: 0,
  };
  readonly #options: ComparisonOptions;
  /** Leads that were not received, or outstanding for a target, when they were looked up. */
  readonly #doubtful = new LeadSpool();
  /** The least number of a lead on both sides. */
  #firstSeq = Infinity;

  constructor(options: ComparisonOptions) {
    this.#options = options;
  }

  /** At most `batchSize` leads of the service's list. */
  async add(leads: readonly TemporaryLead[]): Promise<void> {
    this.counts.pulled += leads.length;
    const found = await this.#lookUp(leads);
    const certain: FoundLead[] = [];
    for (const [i, lead] of leads.entries()) {
      const one = found[i];
      if (one === undefined || one.isPending) await this.#doubtful.add(lead);
      else certain.push({ lead, found: one });
    }
    await this.#compare(certain);
  }

  /** Looks again for what was not received, since deliveries went on meanwhile. To be called once, after a complete walk. */
  async lookUpAgain(signal: AbortSignal): Promise<void> {
    const { received } = this.#options;
    if (this.#doubtful.count === 0) return;
    // A delivery that is rejected first and taken in after a retry is found below.
    const rejections = await received.rejections();
    for await (const batch of this.#doubtful.leads()) {
      for (let start = 0; start < batch.length; start += batchSize) {
        const leads = batch.slice(start, start + batchSize);
        const found = await this.#lookUp(leads);
        const late: FoundLead[] = [];
        for (const [i, lead] of leads.entries()) {
          const one = found[i];
          if (one === undefined) await this.#addUnreceived(lead, rejections.get(lead.id));
          else late.push({ lead, found: one });
        }
        await this.#compare(late);
        await setImmediate();
        signal.throwIfAborted();
      }
    }
  }

  /** After `lookUpAgain`. */
  async countBackfilled(signal: AbortSignal): Promise<void> {
    if (this.counts.matched === 0) return;
    for await (const seqs of this.#options.received.leads.backfilledSeqs(this.#firstSeq)) {
      this.counts.backfilled += seqs.filter((seq) => this.pulledSeqs.has(seq)).length;
      await setImmediate();
      signal.throwIfAborted();
    }
  }

  async close(): Promise<void> {
    await this.#doubtful.close();
    await this.findings.close();
    for (const spool of Object.values(this.unreceived)) await spool.close();
  }

  #lookUp(leads: readonly TemporaryLead[]): Promise<readonly (ReceivedLead | undefined)[]> {
    return this.#options.received.leads.lookUp(leads.map(({ id }) => id));
  }

  async #compare(pairs: readonly FoundLead[]): Promise<void> {
    const { uncompared } = this.#options;
    const unequal: FoundLead[] = [];
    for (const pair of pairs) {
      this.counts.matched += 1;
      this.pulledSeqs.add(pair.found.seq);
      this.#firstSeq = Math.min(this.#firstSeq, pair.found.seq);
      const { digest } = pair.found;
      // Of an erased lead only that it came is known.
      if (digest === undefined || uncompared.statusField.digest(pair.lead.bytes) === digest)
        await this.#addMatched(pair, []);
      else unequal.push(pair);
    }
    if (unequal.length === 0) return;
    const { leads } = this.#options.received;
    const bodies = new Map(
      (await leads.leadsBySeq(unequal.map(({ found }) => found.seq))).map(({ seq, body }) => [seq, body]),
    );
    for (const pair of unequal) {
      const body = bodies.get(pair.found.seq);
      if (body === undefined) this.counts.notCompared += 1;
      await this.#addMatched(
        pair,
        body === undefined ? [] : differingFields(pair.lead.bytes, body, uncompared),
      );
    }
  }

  async #addMatched(
    { lead: { id, createdAt }, found }: FoundLead,
    differing: readonly string[],
  ): Promise<void> {
    const { times, received } = this.#options;
    const receivedAt = received.hasTimes ? found.receivedAt : undefined;
    const { isPending } = found;
    const finding = classifyLead(
      { id, createdAt, receivedAt, found: { on: 'both', differing, isPending } },
      times,
    );
    if (finding !== undefined) await this.findings.add(finding);
  }

  async #addUnreceived(lead: TemporaryLead, rejection: string | undefined): Promise<void> {
    const { id, createdAt } = lead;
    const finding = classifyLead({ id, createdAt, found: { on: 'service', rejection } }, this.#options.times);
    if (finding === undefined) return;
    await this.findings.add(finding);
    if (finding.class === 'missing' || finding.class === 'refused') {
      await this.unreceived[finding.class].add(lead);
    }
  }
}

const least = 1024;

/** A set of whole numbers from 0: a bit for each number up to the largest one. */
export class BitSet {
  #bytes = new Uint8Array(least);

  add(number: number): void {
    // Shifting would cut off what is beyond 32 bits.
    const at = Math.floor(number / 8);
    if (at >= this.#bytes.length) this.#grow(at + 1);
    this.#bytes[at] = (this.#bytes[at] as number) | (1 << (number % 8));
  }

  has(number: number): boolean {
    return ((this.#bytes[Math.floor(number / 8)] ?? 0) & (1 << (number % 8))) !== 0;
  }

  #grow(length: number): void {
    const bytes = new Uint8Array(Math.max(length, Math.ceil(this.#bytes.length * 1.5)));
    bytes.set(this.#bytes);
    this.#bytes = bytes;
  }
}
