import { randomUUID } from 'node:crypto';
import type { Connection } from '../connection/database-connections.ts';
import { own, type Row, type Sql, sql, statements, textOf } from '../sql.ts';
import type { Clock } from '../../../time/clock.ts';
import { type Answers, withoutDurability } from './transaction.ts';

/** Of a row of `unconfirmed`: its queue lost its answer, or said nothing for two seconds. */
export const isLost: Sql = sql`lost OR at NOT BETWEEN clock_timestamp() - interval '2s' AND clock_timestamp() + interval '2s'`;

/** An answer that came so long after its question, in milliseconds, leaves too little of those two seconds. */
const freshMs = 1500;

/**
 * A renewed row lies a second and a half ahead, which all releases take for in time: it holds for three and a half seconds from
 * its statement on. So long, in milliseconds, may the answer to that take.
 */
const renewedMs = 2500;

/**
 * Who has accepted a lead, and whether they know it. A connection that is cut between COMMIT and its answer leaves leads
 * accepted of which no receiver ever learnt: their senders were answered 503, or nothing. So a transaction that accepts
 * leads also notes their numbers (of the leads' first deliveries) in the table `unconfirmed`, in the row of its queue of
 * transactions (column `lane`), and the queue empties the row once the COMMIT was answered, in front of its next
 * transaction or, when none follows, by itself.
 *
 * The rule: a lead whose number stands in the row of another queue is not known to be accepted. If that queue lost its
 * answer (it says so as soon as it can, and goes on under another id), or said nothing for two seconds, because its
 * receiver was killed, then the queue that takes the next delivery of the lead accepts it and takes its number over.
 * Otherwise the queue has only just committed, and the delivery is taken again a moment later. What a receiver's own queues
 * have accepted it knows by itself, however long the database refuses the note. A queue whose COMMIT was answered late renews
 * its row, for three and a half seconds, before it believes the answer; whoever takes over marks that row as lost. Of the two,
 * one is first.
 *
 * So a lead is accepted once, unless a receiver is stopped, or its note is refused, for longer than that between the answer
 * to a COMMIT and the note of it, and its next delivery goes to another receiver; or the database is killed less than a second after the last delivery of a queue, which then has no other:
 * then it may be accepted twice, and never not at all.
 */
export class Confirmations {
  readonly #schema: Sql;
  /** What the queues of this receiver, this one among them, were last told that they accepted, by their ids. */
  readonly #known: Map<string, ReadonlySet<number>>;
  #queueId = randomUUID();
  #isShared = false;
  /** Whether the queue has a row, and whether numbers stand in it that are to be removed. */
  #hasRow = false;
  #hasNumbers = false;
  #lost: { readonly queueId: string; readonly numbers: readonly number[] }[] = [];

  /** `known`: of the receiver, where its queues enter themselves. */
  constructor(schema: Sql, known = new Map<string, ReadonlySet<number>>()) {
    this.#schema = schema;
    this.#known = known.set(this.#queueId, new Set());
  }

  /** Whether another receiver accepted leads in the second before this one asked. */
  get isShared(): boolean {
    return this.#isShared;
  }

  /** What is to be said when no transaction follows; undefined when there is nothing. */
  get due(): Sql | undefined {
    return this.#hasNumbers || this.#lost.length > 0 ? this.beforeNext : undefined;
  }

  /**
   * What is to be said before the next transaction. It is said again although it was: a database that was killed just
   * after may have forgotten it.
   */
  get beforeNext(): Sql | undefined {
    const parts = this.#lost.map(
      ({ queueId, numbers }) =>
        // Skipped while that transaction still runs: two seconds later it counts as lost without these words.
        sql`UPDATE ${this.#schema}.unconfirmed SET lost = true, seqs = seqs * ${multirangeOf(numbers)}
          WHERE lane IN (SELECT lane FROM ${this.#schema}.unconfirmed WHERE lane = ${own(queueId)}::uuid FOR UPDATE SKIP LOCKED);`,
    );
    if (this.#hasRow) {
      parts.push(sql`SELECT ${this.#schema}.confirm_1(${this.queue});`);
    }
    return parts.length === 0 ? undefined : withoutDurability(statements(...parts));
  }

  /** What was due was said. */
  said(): void {
    this.#lost = [];
    this.#hasNumbers = false;
  }

  /** `rows`: the row of each other queue that has numbers, or was active just now, as functions give them. */
  heard(rows: readonly Row[]): void {
    this.#isShared = rows.some((row) => row['is_active'] === true && !this.#known.has(textOf(row['lane'])));
  }

  /**
   * `doubted`: leads that another queue accepted without knowing it, and cannot confirm any more; `early`: the keys of those
   * that it may know of in a moment. The others are as they are known.
   */
  async doubtedOf<Lead extends { readonly seq: number; readonly accepted: boolean }>(
    leads: Iterable<readonly [key: string, Lead]>,
    answers: Answers,
    connection: Connection,
  ): Promise<{
    readonly doubted: readonly (readonly [string, Lead])[];
    readonly early: ReadonlySet<string>;
  }> {
    const early = new Set<string>();
    const lost: (readonly [string, Lead])[] = [];
    for (const [key, lead] of leads) {
      if (!lead.accepted) continue;
      const confirmation = this.#confirmationOf(answers['unconfirmed'] ?? [], lead.seq);
      if (confirmation === 'not yet') early.add(key);
      if (confirmation === 'lost') lost.push([key, lead]);
    }
    if (lost.length === 0) return { doubted: lost, early };
    // Its queue may have renewed the row since it was found lost.
    const [rows = []] = await connection.run(sql`UPDATE ${this.#schema}.unconfirmed SET lost = true
      WHERE seqs && ${multirangeOf(lost.map(([, { seq }]) => seq))} AND (${isLost}) RETURNING seqs::text;`);
    for (const [key, { seq }] of lost)
      if (!rows.some(({ seqs }) => hasNumber(textOf(seqs), seq))) early.add(key);
    return { doubted: lost.filter(([key]) => !early.has(key)), early };
  }

  /** How the acceptance of a lead stands, by its number. `rows`: as they are heard. */
  #confirmationOf(rows: readonly Row[], number: number): Confirmation {
    const row = rows.find(({ seqs }) => hasNumber(textOf(seqs), number));
    const known = row && this.#known.get(textOf(row['lane']));
    if (row === undefined || known?.has(number) === true) return 'confirmed';
    // Of a queue of this receiver, whose answer is on its way.
    return row['is_lost'] === true && known === undefined ? 'lost' : 'not yet';
  }

  /** The name of the queue. */
  get queue(): Sql {
    return sql`${own(this.#queueId)}::uuid`;
  }

  /** What functions that write are given: the name of the queue, and the leads that the open transaction accepts. */
  noted(numbers: readonly number[]): Sql {
    return sql`${this.queue}, ${multirangeOf(numbers)}`;
  }

  /** Whether nobody took over what was accepted, nor will, by a COMMIT that began at `since` and was answered now. */
  async isOurs(
    connection: Connection,
    numbers: readonly number[],
    { clock, since }: { readonly clock: Pick<Clock, 'steady'>; readonly since: number },
  ): Promise<boolean> {
    if (numbers.length === 0 || clock.steady() - since < freshMs) return true;
    const renewedAt = clock.steady();
    const renewal = sql`UPDATE ${this.#schema}.unconfirmed SET at = clock_timestamp() + interval '1.5s'
      WHERE lane = ${this.queue} AND seqs = ${multirangeOf(numbers)} AND NOT lost RETURNING lane;`;
    const [[row] = []] = await connection.run(withoutDurability(renewal));
    return row !== undefined && clock.steady() - renewedAt < renewedMs;
  }

  /** Leads that the open transaction accepts, and that another queue had accepted; undefined where there are none. */
  takeOver(numbers: readonly number[]): Sql | undefined {
    if (numbers.length === 0) return undefined;
    const others = multirangeOf(numbers);
    return sql`UPDATE ${this.#schema}.unconfirmed SET seqs = seqs - ${others} WHERE seqs && ${others};`;
  }

  /** The transaction that noted them was committed, and its answer came. */
  committed(numbers: readonly number[]): void {
    this.#hasNumbers ||= numbers.length > 0;
    this.#hasRow ||= numbers.length > 0;
    if (numbers.length > 0) this.#known.set(this.#queueId, new Set(numbers));
  }

  /** It may have been committed: nobody will ever know from an answer. */
  lostAnswer(numbers: readonly number[]): void {
    if (numbers.length === 0) return;
    this.#lost.push({ queueId: this.#queueId, numbers });
    this.#known.delete(this.#queueId);
    this.#queueId = randomUUID();
    this.#known.set(this.#queueId, new Set());
    this.#hasRow = false;
    this.#hasNumbers = false;
  }

  /** The queue ends. */
  get removal(): Sql {
    return sql`DELETE FROM ${this.#schema}.unconfirmed WHERE lane = ${own(this.#queueId)}::uuid
      OR at < clock_timestamp() - interval '30 days';`;
  }
}

/** How the acceptance of a lead stands: confirmed, or not yet, or never. */
type Confirmation = 'confirmed' | 'not yet' | 'lost';

/** Numbers as an `int8multirange` of PostgreSQL: neighbours are one range. */
function multirangeOf(numbers: readonly number[]): Sql {
  const ranges: [start: number, end: number][] = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && number <= last[1]) last[1] = Math.max(last[1], number + 1);
    else ranges.push([number, number + 1]);
  }
  return sql`${own(`{${ranges.map(([start, end]) => `[${start},${end})`).join()}}`)}::int8multirange`;
}

/** Whether a multirange, as the database writes it, holds a number. */
function hasNumber(multirange: string, number: number): boolean {
  for (const [, start, end] of multirange.matchAll(/\[(\d+),(\d+)\)/g)) {
    if (number >= Number(start) && number < Number(end)) return true;
  }
  return false;
}
