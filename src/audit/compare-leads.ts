import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { mostDiffNames } from '../inbox/payload-diff.ts';
import type { ReceivedLead, ReceivedLeads } from '../inbox/query-types.ts';
import { bufferOf, compact } from '../json/bytes.ts';
import { type Comparison, differingFields, type DifferingFields, noDifference } from './compare-payloads.ts';
import type { FieldPresence } from '../lead/filter.ts';
import {
  type AuditTimes,
  classifyLead,
  type Finding,
  type FindingClass,
  type LeadFacts,
  type UnreceivedClass,
} from './classify-lead.ts';
import { CarriedFields } from './carried-fields.ts';
import { FindingSpool, LeadSpool, type TemporaryLead, ValueSpool } from './temporary-leads.ts';
import type { InboxReader } from '../inbox/inbox.ts';
import type { IdField } from '../lead/find-leads.ts';
import { type LeadAt, possibleLeads, readLead } from '../lead/read-leads.ts';

interface ComparisonOptions {
  readonly received: ReceivedSide;
  /** Final when the walk is over; before that a service's clock that is behind may be disproven. */
  readonly times: () => AuditTimes;
  readonly comparison: Comparison;
}

interface FoundLead {
  readonly lead: TemporaryLead;
  readonly found: ReceivedLead;
}

/** A lead on both sides. */
interface MatchedLead extends Pick<LeadFacts, 'id' | 'createdAt' | 'receivedAt'>, DifferingFields {
  readonly isWaiting: boolean;
}

/** Different lists of what leads lack that are counted apart. */
const mostLacking = 1000;

/** What is to be kept of the leads of one batch. */
interface JudgedLeads {
  readonly findings: Finding[];
  readonly undecided: MatchedLead[];
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
  readonly pulledSeqs = new Set<number>();
  readonly counts = {
    pulled: 0,
    /** Leads that are on both sides. */
    matched: 0,
    /** Leads on both sides that were fetched and never pushed. */
    backfilled: 0,
    /** Leads on both sides with fields that no push carries. */
    richer: 0,
    /** Leads on both sides whose bytes differ, while the received ones were pruned. */
    notCompared: 0,
  };
  /** Fields that no push carries, the first ones. */
  readonly richerFields = new Set<string>();
  readonly #options: ComparisonOptions;
  /** Leads that were not received, or outstanding for a target, when they were looked up. */
  readonly #doubtful = new LeadSpool();
  /** What they lack may be a difference, or how old they are not certain, until all leads were looked at. */
  readonly #undecided = new ValueSpool<MatchedLead>();
  /** By what they lack: those of them that are no finding if it is no difference; how many. */
  readonly #lacking = new Map<string, { readonly absent: readonly string[]; count: number }>();
  /** All of the undecided ones are among them. */
  #isAllLacking = true;
  readonly #carried = new CarriedFields();
  /** Of both sides of the leads that were compared; looked at where some are ignored. */
  readonly #compared = new CarriedFields({ withNull: true });
  /** The least number of a lead on both sides. */
  #firstSeq = Infinity;

  constructor(options: ComparisonOptions) {
    this.#options = options;
  }

  /** Fields that are ignored, and that no lead has that was compared; and the names of those that there are. */
  get ignored(): Pick<FieldPresence, 'missing' | 'names'> {
    const names = this.#compared.paths;
    const isThere = (path: string): boolean =>
      this.#compared.has(path) || this.#compared.has(path.replace(/\.\d+(?=\.|$)/g, ''));
    const { ignored } = this.#options.comparison;
    return { names, missing: names.length === 0 ? [] : ignored.filter((path) => !isThere(path)) };
  }

  /** At most `batchSize` leads of the service's list. */
  async add(leads: readonly TemporaryLead[]): Promise<void> {
    this.counts.pulled += leads.length;
    const found = await this.#lookUp(leads);
    const certain: FoundLead[] = [];
    for (const [i, lead] of leads.entries()) {
      const one = found[i];
      if (one === undefined || one.isWaiting) await this.#doubtful.add(lead);
      else certain.push({ lead, found: one });
    }
    await this.#compare(certain);
  }

  /** To be called once, after a complete walk. */
  async finish(signal: AbortSignal): Promise<void> {
    await this.#lookUpAgain(signal);
    await this.#countBackfilled(signal);
    await this.#judgeUndecided(signal);
  }

  /** Looks again for what was not received, since deliveries went on meanwhile. */
  async #lookUpAgain(signal: AbortSignal): Promise<void> {
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

  async #countBackfilled(signal: AbortSignal): Promise<void> {
    if (this.counts.matched === 0) return;
    for await (const seqs of this.#options.received.leads.backfilledSeqs(this.#firstSeq)) {
      this.counts.backfilled += seqs.filter((seq) => this.pulledSeqs.has(seq)).length;
      await setImmediate();
      signal.throwIfAborted();
    }
  }

  async #judgeUndecided(signal: AbortSignal): Promise<void> {
    const lacking = [...this.#lacking.values()];
    const isCarried = (path: string): boolean => this.#carried.has(path);
    if (this.#isAllLacking && !lacking.some(({ absent }) => absent.some(isCarried))) {
      for (const { absent, count } of lacking) this.#countRicher(absent, count);
      return;
    }
    for await (const { differing, absent, ...lead } of this.#undecided.values()) {
      const lost = absent.filter(isCarried);
      const finding = this.#classOf(lead, [...differing, ...lost]);
      if (finding !== undefined) await this.findings.add(finding);
      if (lost.length === absent.length) continue;
      this.#countRicher(
        absent.filter((path) => !lost.includes(path)),
        1,
      );
      if (this.counts.richer % batchSize !== 0) continue;
      await setImmediate();
      signal.throwIfAborted();
    }
  }

  #countRicher(fields: readonly string[], leads: number): void {
    this.counts.richer += leads;
    for (const path of fields) if (this.richerFields.size < mostDiffNames) this.richerFields.add(path);
  }

  async close(): Promise<void> {
    const spools = [this.#doubtful, this.#undecided, this.findings, ...Object.values(this.unreceived)];
    for (const spool of spools) await spool.close();
  }

  #lookUp(leads: readonly TemporaryLead[]): Promise<readonly (ReceivedLead | undefined)[]> {
    return this.#options.received.leads.lookUp(leads.map(({ id }) => id));
  }

  async #compare(pairs: readonly FoundLead[]): Promise<void> {
    const judged: JudgedLeads = { findings: [], undecided: [] };
    const unequal: FoundLead[] = [];
    for (const pair of pairs) {
      const { lead, found } = pair;
      this.counts.matched += 1;
      this.pulledSeqs.add(found.seq);
      this.#firstSeq = Math.min(this.#firstSeq, found.seq);
      // Of an erased lead, and of a bare id, only that it came is known.
      const isEqual = found.digest === undefined || this.#isOfDigest(lead.bytes, found.digest);
      if (isEqual) this.#judge(pair, noDifference, judged);
      else unequal.push(pair);
    }
    if (unequal.length > 0) await this.#compareBytes(unequal, judged);
    for (const finding of judged.findings) await this.findings.add(finding);
    if (judged.undecided.length > 0) await this.#undecided.add(...judged.undecided);
  }

  async #compareBytes(pairs: readonly FoundLead[], judged: JudgedLeads): Promise<void> {
    const { comparison, received } = this.#options;
    const stored = await received.leads.leadsBySeq(pairs.map(({ found }) => found.seq));
    const bodies = new Map(stored.map(({ seq, body }) => [seq, body]));
    for (const pair of pairs) {
      const { lead, found } = pair;
      const body = bodies.get(found.seq);
      if (body === undefined) {
        this.counts.notCompared += 1;
        this.#judge(pair, noDifference, judged);
        continue;
      }
      const pushed = compact(body);
      this.#noteFields(lead.bytes, pushed);
      this.#judge(pair, differingFields(lead.bytes, pushed, comparison), judged);
    }
  }

  /** Whether these bytes were received, as they are or without the delivery status, which is never compared. */
  #isOfDigest(pulled: Uint8Array, digest: string): boolean {
    const record = bufferOf(pulled);
    const { statusField } = this.#options.comparison;
    const received = [statusField.without(record), record].find(
      (bytes) => hash('sha256', bytes, 'hex') === digest,
    );
    if (received === undefined) return false;
    this.#noteFields(record, received);
    return true;
  }

  #noteFields(pulled: Uint8Array, pushed: Uint8Array): void {
    const { ignored } = this.#options.comparison;
    this.#carried.add(pushed);
    if (ignored.length === 0) return;
    this.#compared.add(pulled);
    this.#compared.add(pushed);
  }

  /** One by one this would take a promise for each lead. */
  #judge(
    { lead: { id, createdAt }, found }: FoundLead,
    fields: DifferingFields,
    { findings, undecided }: JudgedLeads,
  ): void {
    const receivedAt = this.#options.received.hasTimes ? found.receivedAt : undefined;
    const { isWaiting } = found;
    const { differing, absent } = fields;
    const isUncertain = this.#options.times().clockAheadMs < 0;
    const finding = this.#classOf({ id, createdAt, receivedAt, isWaiting }, differing);
    if (absent.length > 0 || isUncertain) {
      undecided.push({ id, createdAt, receivedAt, isWaiting, differing, absent });
      if (isUncertain || finding !== undefined) this.#isAllLacking = false;
      else this.#addLacking(absent);
    } else if (finding !== undefined) findings.push(finding);
  }

  #addLacking(absent: readonly string[]): void {
    const key = JSON.stringify(absent);
    const found = this.#lacking.get(key);
    if (found !== undefined) found.count += 1;
    else if (this.#lacking.size < mostLacking) this.#lacking.set(key, { absent, count: 1 });
    else this.#isAllLacking = false;
  }

  #classOf(
    { id, createdAt, receivedAt, isWaiting }: Omit<MatchedLead, keyof DifferingFields>,
    fields: readonly string[],
  ): Finding | undefined {
    const differing = fields.length > mostDiffNames ? fields.slice(0, mostDiffNames) : fields;
    const found = { on: 'both', differing, isWaiting } as const;
    return classifyLead({ id, createdAt, receivedAt, found }, this.#options.times());
  }

  async #addUnreceived(lead: TemporaryLead, rejection: string | undefined): Promise<void> {
    const { id, createdAt } = lead;
    const facts: LeadFacts = { id, createdAt, found: { on: 'service', rejection } };
    const finding = classifyLead(facts, this.#options.times());
    if (finding === undefined) return;
    await this.findings.add(finding);
    if (finding.class === 'missing' || finding.class === 'refused') {
      await this.unreceived[finding.class].add(lead);
    }
  }
}

/** Where leads are in a body, and which field is their id. */
export interface LeadsInBodies {
  readonly leadAt: LeadAt;
  readonly idField: IdField;
}

/** What was received, and what is known beside the leads. */
export interface ReceivedSide {
  readonly leads: ReceivedLeads;
  /** What only a receiver's own record shows, where this is none. */
  readonly undecidable: readonly FindingClass[];
  /** Whether it is known when each lead was received. */
  readonly hasTimes: boolean;
  /** When the received leads were written down, ms; undefined where that is now. */
  readonly writtenAt?: number | undefined;
  /** Why deliveries were rejected, by the ids in their bodies: evidence that they came, and no more. */
  rejections(): Promise<ReadonlyMap<string, string>>;
}

/** Why the deliveries were rejected that the inbox keeps, by the ids of their leads: of several, the newest reason. */
export async function rejectionsIn(
  inbox: Pick<InboxReader, 'list'>,
  place: LeadsInBodies,
): Promise<ReadonlyMap<string, string>> {
  const reasons = new Map<string, string>();
  for await (const { leadId, body, reason = 'rejected' } of inbox.list({ verdicts: ['rejected'] })) {
    for (const id of leadId === undefined ? idsInBody(body, place) : [leadId]) {
      if (!reasons.has(id)) reasons.set(id, reason);
    }
  }
  return reasons;
}

/**
 * The ids of the leads in a body, of which nobody knows whether it is authentic. Of a long rejected body only the start is
 * kept, which is no JSON: there are none in it.
 */
function idsInBody(body: Uint8Array, place: LeadsInBodies): readonly string[] {
  return leadsInBody(body, place).flatMap((lead) => {
    const read = readLead(lead, place.idField);
    return read.ok ? (read.lead.id ?? []) : [];
  });
}

/** What is at the places where a body has leads, also where the receiver rejected all of them. */
export const leadsInBody = (body: Uint8Array, { leadAt, idField }: LeadsInBodies): readonly Uint8Array[] =>
  possibleLeads(body, leadAt, idField);
