import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { messageOf } from '../../../errors.ts';
import { readJsonState } from '../../../files/json-state.ts';
import { makeDirectory } from '../../../files/make-directory.ts';
import { replaceFile } from '../../../files/replace.ts';
import { sha256 } from '../../../json/bytes.ts';
import type { DatabaseProblem, TermProblem } from '../../problems.ts';
import type { StoreOptions } from '../../store-options.ts';
import { hexOf, integerLiteral, numberOf, own, type Row, type Rows, type Sql, sql, textOf } from '../sql.ts';

/**
 * A stretch of an inbox's history in which one server took its writes. The first session on a new timeline, which a promotion
 * begins, raises the number; two standbys that are both promoted share number and timeline, and have other ids.
 */
interface Term {
  readonly number: number;
  readonly id: string;
}

type UnfitServer = TermProblem | Extract<DatabaseProblem, { readonly kind: 'database-unfit' }>;

/** Which a promotion begins. `raise`: what is to be written before all else. */
export interface NewTimeline {
  readonly kind: 'new timeline';
  readonly raise: Sql;
}

const keptTerm = z.strictObject({ version: z.literal(1), number: z.int(), id: z.string() });

/**
 * The timeline that the server writes now, eight hex digits; null on a standby. `pg_control_checkpoint()` would lag behind a
 * promotion.
 */
export const timeline: Sql = sql`CASE WHEN NOT pg_is_in_recovery() THEN substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END`;

/** How far an operator's acceptance raises the number: above whatever a receiver may have seen elsewhere. */
const acceptanceRaise = 1000;

/** Lets receivers that saw a later term write to this server, as after a restore. */
export const acceptServer = (schema: Sql): Sql =>
  sql`INSERT INTO ${schema}.terms SELECT max(number) + ${integerLiteral(acceptanceRaise)}, gen_random_uuid(), ${timeline}, true FROM ${schema}.terms;`;

interface ServerTermsOptions {
  readonly schema: Sql;
  /** What tells this inbox from others, wherever it is copied to. */
  readonly key: Uint8Array;
  /** Where the highest term is kept; undefined: in memory only. */
  readonly directory: string | undefined;
  readonly warn: StoreOptions['warn'];
}

/** Tells a server that is behind one that this receiver has written to, or another on this machine before this one started. */
export class ServerTerms {
  readonly #options: ServerTermsOptions;
  readonly #path: string | undefined;
  #seen: Term | undefined;

  private constructor(options: ServerTermsOptions, path: string | undefined, seen: Term | undefined) {
    this.#options = options;
    this.#path = path;
    this.#seen = seen;
  }

  /** Throws a `DataError` where the file of the term cannot be read. */
  static async open(options: ServerTermsOptions): Promise<ServerTerms> {
    const { directory, key } = options;
    if (directory === undefined) return new ServerTerms(options, undefined, undefined);
    const path = join(directory, `${hexOf(sha256(key)).slice(0, 16)}.json`);
    return new ServerTerms(options, path, await readJsonState(path, keptTerm, 'term'));
  }

  /** What functions are given that ask whether a term continues the one that was seen. */
  get seen(): Sql {
    const seen = this.#seen;
    return seen === undefined ? sql`NULL, NULL` : sql`${own(seen.id)}::uuid, ${seen.number}`;
  }

  /** A condition: whether the server has the newest term that was seen. */
  get continues(): Sql {
    return sql`EXISTS (SELECT FROM ${this.#options.schema}.terms WHERE ${this.#isSeen})`;
  }

  /** A condition on a row of `terms`: it is the term that was seen, or one that an operator accepted after it. */
  get #isSeen(): Sql {
    const seen = this.#seen;
    return seen === undefined
      ? sql`true`
      : sql`(id = ${own(seen.id)}::uuid OR (is_accepted AND number > ${seen.number}))`;
  }

  /** Undefined: the server may be written to; where it began a new timeline, after the statement that is given. */
  check(row: Row, host: string): UnfitServer | NewTimeline | undefined {
    const term = { number: numberOf(row['term']), id: textOf(row['term_id']) };
    const seen = this.#seen;
    if (row['timeline'] === null) {
      return { kind: 'database-unfit', host, isStandby: true, asked: 'read-write' };
    }
    // What was seen may have become more since the question was sent.
    const isBehind = seen !== undefined && seen.id !== term.id && seen.number >= term.number;
    if (row['continues'] !== true || isBehind) {
      return { kind: 'database-behind-term', host, term: term.number, seen: seen?.number ?? 0 };
    }
    const [now, before] = [textOf(row['timeline']), textOf(row['term_timeline'])];
    // A standby's timeline only rises.
    if (now < before) return { kind: 'database-of-lower-timeline', host, timeline: now, seen: before };
    if (now === before) return undefined;
    const { schema } = this.#options;
    const raise = sql`INSERT INTO ${schema}.terms SELECT ${term.number + 1}, gen_random_uuid(), ${timeline}, false
      WHERE ${timeline} = ${own(now)}::text ON CONFLICT (number) DO NOTHING;`;
    return { kind: 'new timeline', raise };
  }

  /** Keeps the term of a server that was checked. */
  async note(row: Row): Promise<void> {
    const term = { number: numberOf(row['term']), id: textOf(row['term_id']) };
    if (this.#seen !== undefined && this.#seen.number >= term.number) return;
    this.#seen = term;
    const path = this.#path;
    if (path === undefined) return;
    try {
      const kept = await readJsonState(path, keptTerm, 'term');
      if (kept !== undefined && kept.number > term.number) return;
      makeDirectory(dirname(path), 0o700);
      // Receivers of one machine may write it at the same moment: each has a temporary file of its own.
      await replaceFile(path, `${JSON.stringify({ version: 1, ...term })}\n`);
    } catch (error) {
      // It holds as long as this process runs.
      this.#options.warn({ kind: 'inbox-term-not-kept', path, detail: messageOf(error) });
    }
  }
}

/**
 * The newest row, and whether any of them continues the term that was seen. They are few: to find the newest here costs the
 * database less than half as much.
 */
export function newestOf(rows: Rows): Row | undefined {
  const newest = rows.toSorted((a, b) => numberOf(b['term']) - numberOf(a['term']))[0];
  return newest && { ...newest, continues: rows.some(({ continues }) => continues === true) };
}
