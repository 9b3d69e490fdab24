import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { maxDiffNames } from '../json/payload-diff.ts';
import type { ReceivedLead, ReceivedLeads } from '../inbox/query-types.ts';
import { bufferOf, compact } from '../json/bytes.ts';
import { type Comparison, differingFields, type DifferingFields, noDifference } from './compare-payloads.ts';
import {
  type AuditTimes,
  classifyLead,
  type Finding,
  type LeadClass,
  type LeadFacts,
  type UnreceivedClass,
} from './classify-lead.ts';
import { CarriedFields } from './carried-fields.ts';
import { FindingSpool, leadSpool, plainSpool, type Spool, type PulledLead } from './spool.ts';

export interface ReceivedSide {
  readonly leads: ReceivedLeads;
  /** Classes that cannot be decided from this side, because only an inbox shows them. */
  readonly undecidable: readonly LeadClass[];
  readonly hasTimes: boolean;
  /** The time at which the received leads were written down, ms; undefined where that is now. */
  readonly writtenAt?: number | undefined;
  /** Reasons of rejected deliveries, by the ids in their bodies: evidence that they came, and no more. */
  rejections(): Promise<ReadonlyMap<string, string>>;
}

interface ComparisonOptions {
  readonly received: ReceivedSide;
  /** They change during the walk when a listed lead shows that the service's clock is not behind, as it had seemed. */
  readonly times: () => AuditTimes;
  readonly comparison: Comparison;
}

interface LeadPair {
  readonly lead: PulledLead;
  readonly stored: ReceivedLead;
}

/** A lead on both sides that can be judged only at the end. */
interface DeferredLead extends Pick<LeadFacts, 'id' | 'createdAt' | 'receivedAt'>, DifferingFields {
  readonly isWaiting: boolean;
}

interface JudgedLeads {
  readonly findings: Finding[];
  readonly deferredLeads: DeferredLead[];
}

/** Leads that are looked up at once: so few that the garbage of a batch is collected before it becomes old, which costs more. */
export const batchSize = 250;

/**
 * Compares pulled leads with what was received. `add` looks a batch up and compares the leads that were received. `finish` looks
 * the others up again, since deliveries went on meanwhile; those that are still not there were not received. At last it judges
 * the differences that depend on all the pushes, or on a clock that was still in doubt.
 */
export class LeadComparer {
  readonly findings = new FindingSpool();
  readonly unreceived: Readonly<Record<UnreceivedClass, Spool<PulledLead>>> = {
    refused: leadSpool(),
    missing: leadSpool(),
  };
  readonly pulledSeqs = new Set<number>();
  readonly counts = {
    pulled: 0,
    matched: 0,
    /** Leads on both sides whose bytes differ, while the received ones were pruned. */
    notCompared: 0,
  };
  readonly #options: ComparisonOptions;
  /** Leads whose lookup is repeated at the end: they were not received, or waiting for a target. */
  readonly #retryLeads = leadSpool();
  readonly #deferredLeads = plainSpool<DeferredLead>();
  /** The fields that pushes carry: only one of these can be missing from a push. */
  readonly #carriedFields = new CarriedFields();

  constructor(options: ComparisonOptions) {
    this.#options = options;
  }

  async add(leads: readonly PulledLead[]): Promise<void> {
    this.counts.pulled += leads.length;
    const rows = await this.#lookUp(leads);
    const pairs: LeadPair[] = [];
    for (const [i, lead] of leads.entries()) {
      const stored = rows[i];
      if (stored === undefined || stored.isWaiting) await this.#retryLeads.add(lead);
      else pairs.push({ lead, stored });
    }
    await this.#compare(pairs);
  }

  async finish(signal: AbortSignal): Promise<void> {
    await this.#retryLookups(signal);
    await this.#judgeDeferredLeads(signal);
  }

  async #retryLookups(signal: AbortSignal): Promise<void> {
    const { received } = this.#options;
    if (this.#retryLeads.count === 0) return;
    // Rejections are read first: a delivery that is stored on a retry after that is found by the lookup.
    const rejections = await received.rejections();
    for await (const leads of this.#retryLeads.batches(batchSize)) {
      const rows = await this.#lookUp(leads);
      const pairs: LeadPair[] = [];
      for (const [i, lead] of leads.entries()) {
        const stored = rows[i];
        if (stored === undefined) await this.#addUnreceived(lead, rejections.get(lead.id));
        else pairs.push({ lead, stored });
      }
      await this.#compare(pairs);
      await setImmediate();
      signal.throwIfAborted();
    }
  }

  async #judgeDeferredLeads(signal: AbortSignal): Promise<void> {
    const isCarried = (path: string): boolean => this.#carriedFields.has(path);
    let judged = 0;
    for await (const { differing, absent, ...lead } of this.#deferredLeads.values()) {
      const finding = this.#findingOf(lead, [...differing, ...absent.filter(isCarried)]);
      if (finding !== undefined) await this.findings.add(finding);
      judged += 1;
      if (judged % batchSize !== 0) continue;
      await setImmediate();
      signal.throwIfAborted();
    }
  }

  async close(): Promise<void> {
    const spools = [this.#retryLeads, this.#deferredLeads, this.findings, ...Object.values(this.unreceived)];
    for (const spool of spools) await spool.close();
  }

  #lookUp(leads: readonly PulledLead[]): Promise<readonly (ReceivedLead | undefined)[]> {
    return this.#options.received.leads.lookUp(leads.map(({ id }) => id));
  }

  async #compare(pairs: readonly LeadPair[]): Promise<void> {
    const judged: JudgedLeads = { findings: [], deferredLeads: [] };
    const unequal: LeadPair[] = [];
    for (const pair of pairs) {
      const { lead, stored } = pair;
      this.counts.matched += 1;
      this.pulledSeqs.add(stored.seq);
      // An erased lead, and a bare id, have nothing that could be compared.
      const hasContent = stored.digest !== undefined;
      const received = hasContent ? this.#recordOfDigest(lead.bytes, stored.digest) : undefined;
      if (received !== undefined) this.#carriedFields.add(received);
      if (hasContent && received === undefined) unequal.push(pair);
      else this.#judge(pair, noDifference, judged);
    }
    if (unequal.length > 0) await this.#compareBytes(unequal, judged);
    for (const finding of judged.findings) await this.findings.add(finding);
    if (judged.deferredLeads.length > 0) await this.#deferredLeads.add(...judged.deferredLeads);
  }

  async #compareBytes(pairs: readonly LeadPair[], judged: JudgedLeads): Promise<void> {
    const { comparison, received } = this.#options;
    const leads = await received.leads.leadsBySeq(pairs.map(({ stored }) => stored.seq));
    const bodies = new Map(leads.map(({ seq, body }) => [seq, body]));
    for (const pair of pairs) {
      const { lead, stored } = pair;
      const body = bodies.get(stored.seq);
      if (body === undefined) {
        this.counts.notCompared += 1;
        this.#judge(pair, noDifference, judged);
        continue;
      }
      const pushed = compact(body);
      this.#carriedFields.add(pushed);
      this.#judge(pair, differingFields(lead.bytes, pushed, comparison), judged);
    }
  }

  /** The record as it was pulled, or without the delivery status, which is never compared; undefined if neither was received. */
  #recordOfDigest(pulled: Uint8Array, digest: string): Buffer | undefined {
    const record = bufferOf(pulled);
    const { statusField } = this.#options.comparison;
    const candidates = [statusField.without(record), record];
    return candidates.find((bytes) => hash('sha256', bytes, 'hex') === digest);
  }

  /** Fills the lists of `judged`, since adding to a spool would take a promise for each lead. */
  #judge({ lead: { id, createdAt }, stored }: LeadPair, fields: DifferingFields, judged: JudgedLeads): void {
    const receivedAt = this.#options.received.hasTimes ? stored.receivedAt : undefined;
    const lead = { id, createdAt, receivedAt, isWaiting: stored.isWaiting };
    const mayClockChange = this.#options.times().clockAheadMs < 0;
    if (fields.absent.length > 0 || mayClockChange) {
      judged.deferredLeads.push({ ...lead, ...fields });
      return;
    }
    const finding = this.#findingOf(lead, fields.differing);
    if (finding !== undefined) judged.findings.push(finding);
  }

  #findingOf(
    { id, createdAt, receivedAt, isWaiting }: Omit<DeferredLead, keyof DifferingFields>,
    fields: readonly string[],
  ): Finding | undefined {
    const differing = fields.length > maxDiffNames ? fields.slice(0, maxDiffNames) : fields;
    const sides = { on: 'both', differing, isWaiting } as const;
    return classifyLead({ id, createdAt, receivedAt, sides }, this.#options.times());
  }

  async #addUnreceived(lead: PulledLead, rejection: string | undefined): Promise<void> {
    const { id, createdAt } = lead;
    const facts: LeadFacts = { id, createdAt, sides: { on: 'service', rejection } };
    const finding = classifyLead(facts, this.#options.times());
    if (finding === undefined) return;
    await this.findings.add(finding);
    if (finding.class === 'missing' || finding.class === 'refused') {
      await this.unreceived[finding.class].add(lead);
    }
  }
}
