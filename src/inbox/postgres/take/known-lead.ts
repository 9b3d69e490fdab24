import type { ComparisonBudget } from '../../comparison-budget.ts';
import type { KnownLead, TakenVerdict } from '../../decide-verdict.ts';
import type { TakenLead } from './take-work.ts';

/** A lead as the database has it, before this transaction. */
export interface StoredLeadState {
  /** Of its first delivery. */
  readonly seq: number;
  readonly firstAt: number;
  readonly digest: Uint8Array;
  readonly attempts: number;
  readonly accepted: boolean;
  /** Wanted targets that have had it, and those that another receiver holds a lease on. */
  readonly settled: readonly string[];
  readonly leasedElsewhere: readonly string[];
  /** Its first payload; undefined when it was not looked up, or was pruned. */
  readonly payload: Uint8Array | undefined;
}

/** One lead during a transaction, which may take several deliveries of it. */
export class LeadInBatch {
  readonly #before: StoredLeadState | undefined;
  readonly #comparison: ComparisonBudget;
  #first: Pick<StoredLeadState, 'seq' | 'firstAt' | 'digest' | 'payload'> | undefined;
  #attempts: number;
  #accepted: boolean;

  constructor(before: StoredLeadState | undefined, comparison: ComparisonBudget) {
    this.#before = before;
    this.#comparison = comparison;
    this.#first = before;
    this.#attempts = before?.attempts ?? 0;
    this.#accepted = before?.accepted ?? false;
  }

  get isNew(): boolean {
    return this.#before === undefined;
  }

  /** Of its first delivery; undefined before that is taken. */
  get seq(): number | undefined {
    return this.#first?.seq;
  }

  get isAccepted(): boolean {
    return this.#accepted;
  }

  /** What is known of it when the next delivery of it is taken; undefined for the first one of all. */
  known({ digest, payload }: TakenLead): KnownLead | undefined {
    const first = this.#first;
    if (first === undefined) return undefined;
    const isSame = Buffer.compare(first.digest, digest) === 0;
    return {
      firstAt: first.firstAt,
      attempts: this.#attempts,
      accepted: this.#accepted,
      firstBody: isSame ? 'same' : this.#comparison.spend(first.payload, payload),
      settled: this.#before?.settled ?? [],
      leasedElsewhere: this.#before?.leasedElsewhere ?? [],
    };
  }

  taken(lead: TakenLead, verdict: TakenVerdict, seq: number): void {
    this.#attempts = verdict.attempt;
    this.#accepted ||= verdict.kind === 'accepted';
    this.#first ??= { seq, firstAt: verdict.firstAt, digest: lead.digest, payload: lead.payload };
  }
}
