import { randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { commitment, encodeLeaf, kindOf, saltBytes } from '../statement/leaf.ts';
import { CompactRange, leafHash } from '../statement/merkle-tree.ts';
import { type Clock, slept } from '../time/clock.ts';
import type { OutOfReach } from './problems.ts';
import type { Source } from './query-types.ts';

/** The append-only tree over the leads of one inbox (docs/statement.md). */
export interface Ledger {
  /** Enters every lead that is stored now. */
  sequence(): Promise<void>;
  head(): Promise<LedgerHead>;
  /** In order, in batches of at most 1,000. */
  leaves(): AsyncIterable<readonly StoredLeaf[]>;
  /** Those of these leads that are entered, by the numbers of their first deliveries. */
  leavesOf(seqs: readonly number[]): Promise<readonly StoredLeaf[]>;
  /** Begins an empty one of another name, which says what it takes the place of. */
  restart(supersedes: string): Promise<void>;
  /** Those that were made of this inbox, oldest first. */
  statements(): Promise<readonly MadeStatement[]>;
  addStatement(made: MadeStatement): Promise<void>;
}

/** A statement that was handed out. Half-open, in milliseconds since the epoch. */
export interface MadeStatement {
  readonly since: number;
  readonly until: number;
  readonly madeAt: number;
}

export interface LedgerHead {
  /** Its name. */
  readonly origin: string;
  /** How many leads are entered. */
  readonly size: number;
  /** See `CompactRange`. */
  readonly parts: Uint8Array;
  /** Of the newest delivery that was looked at: leads with a greater number are not entered yet. */
  readonly seq: number;
  /** The checkpoint that it took the place of, in one line. */
  readonly supersedes: string | undefined;
}

export interface StoredLeaf {
  readonly seq: number;
  /** See `encodeLeaf`. */
  readonly leaf: Uint8Array;
  /** Undefined once the lead is erased. */
  readonly salt: Uint8Array | undefined;
}

/** As `Ledger.leaves`, from what reads those from one position on. */
export async function* leavesFrom(
  read: (position: number) => Promise<readonly StoredLeaf[]>,
): AsyncGenerator<readonly StoredLeaf[]> {
  for (let position = 0; ;) {
    const page = await read(position);
    if (page.length === 0) return;
    yield page;
    position += page.length;
    // A file is read without the event loop, in which signals and deliveries get their turn.
    await setImmediate();
  }
}

/** Leaves that are read at once. */
export const leavesAPage = 1000;

/** What no erasure reaches once a statement was made. */
export const handedOut = (made: readonly MadeStatement[]): readonly OutOfReach[] =>
  made.length === 0 ? [] : ['statements'];

/** A lead that is to be entered. */
export interface UnsealedLead {
  readonly seq: number;
  readonly leadId: string;
  readonly receivedAt: number;
  /** SHA-256 of its own bytes. */
  readonly digest: Uint8Array;
  readonly source: Source;
}

/** Rows of ids that one transaction looks at for those whose deliveries were pruned before there was a ledger. */
export const prunedAtOnce = 2000;

/** Deliveries that one transaction looks at. */
export const leavesAtOnce = 500;

/** The leaves of leads that come next, and what the ledger is with them. Of each kind of bytes those of all leads, after each other. */
export function grown({ size, parts }: Pick<LedgerHead, 'size' | 'parts'>, leads: readonly UnsealedLead[]) {
  const tree = new CompactRange(size, parts);
  const salts = randomBytes(leads.length * saltBytes);
  const leaves = leads.map(({ leadId, receivedAt, digest, source }, i) => {
    const salt = salts.subarray(i * saltBytes, (i + 1) * saltBytes);
    const kind = kindOf(leadId, source);
    const leaf = encodeLeaf({ kind, receivedAt, commitment: commitment(salt, leadId, digest) });
    tree.append(leafHash(leaf));
    return leaf;
  });
  const seqs = leads.map(({ seq }) => seq);
  return { size: tree.size, parts: tree.toBytes(), seqs, leaves: Buffer.concat(leaves), salts };
}

/** How long a lead waits to be entered, in milliseconds: with it are entered those that come meanwhile. */
export const delayMs = 1000;

/** Between two transactions that follow each other, in milliseconds: deliveries go first. */
export const pauseMs = 20;

/** Of transactions in a row; then a later delivery begins anew. */
const mostFailures = 10;

/** Enters leads behind their commits, and never in the way of a delivery. */
export class DelayedSequencing {
  readonly #clock: Pick<Clock, 'sleep'>;
  readonly #sequence: () => Promise<number | undefined>;
  readonly #failed: (error: unknown) => void;
  readonly #closed = new AbortController();
  #running: Promise<void> | undefined;
  #isWanted = false;

  /** `sequence`: one transaction; milliseconds until the next where there may be more. `failed`: told what it threw. */
  constructor(
    clock: Pick<Clock, 'sleep'>,
    sequence: () => Promise<number | undefined>,
    failed: (error: unknown) => void = () => undefined,
  ) {
    this.#clock = clock;
    this.#sequence = sequence;
    this.#failed = failed;
  }

  /** After something was taken in. */
  soon(): void {
    this.#isWanted = true;
    this.#running ??= this.#run();
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closed;
    let [wait, failures] = [delayMs, 0];
    while (this.#isWanted && (await slept(this.#clock, wait, signal))) {
      this.#isWanted = false;
      try {
        const next = await this.#sequence();
        this.#isWanted ||= next !== undefined;
        wait = next ?? delayMs;
        failures = 0;
      } catch (error) {
        this.#failed(error);
        // Why nothing can be stored is said by the deliveries that fail with it; the leads are entered after a later one.
        failures += 1;
        this.#isWanted ||= failures < mostFailures;
        wait = delayMs;
      }
    }
    this.#running = undefined;
  }
}
