import * as z from 'zod/mini';
import type { Span } from '../../../json/members.ts';
import type { DeliveryContent } from '../../delivery-record.ts';
import type { StoredDelivery, StoredResult } from '../../inbox.ts';
import type { Connections } from '../connection/database-connections.ts';
import { bytesOf, isNull, numberOf, type Row, type Rows, type Sql, sql, textOfBytes } from '../sql.ts';

/** How long a statement may take that reads, in milliseconds. */
const readMs = 60_000;

/** A schema that this program may use, and what identifies it. */
export interface OpenedSchema {
  readonly connections: Connections;
  readonly schema: Sql;
  /** Of its advisory locks. */
  readonly lockKey: number;
  /** Of the names of targets, and of the ids of erased leads. */
  readonly targetKey: Uint8Array;
}

/** The rows of each statement. */
export const ask = ({ connections }: OpenedSchema, statements: Sql): Promise<readonly Rows[]> =>
  connections.use((connection) => connection.run(statements, readMs));

export async function askOne(database: OpenedSchema, statement: Sql): Promise<Rows> {
  const [rows = []] = await ask(database, statement);
  return rows;
}

/** The part of a number that fits into a lock's name. */
const lockNumbers = 2 ** 31;

/**
 * The last number that a reader may pass: every delivery up to it is visible from now on, or will never be. Numbers are
 * not in the order in which transactions commit. So before a transaction draws numbers it locks the last number that was
 * drawn (`numberGate`), and holds that lock until it has committed: no transaction that is under way can have a number
 * up to the smallest number that is locked. The last number is read before the locks, and what the reader reads after
 * them. A transaction of another program, or one that draws no numbers, holds nothing back.
 *
 * The locks of a primary are not seen on a standby: there, and nowhere else, a reader may pass a number.
 */
export async function horizon(database: OpenedSchema): Promise<number> {
  const { schema, lockKey } = database;
  const lastDrawn = sql`SELECT last_value FROM ${schema}.delivery_numbers;`;
  const [before = [], locks = [], after = []] = await ask(
    database,
    sql`${lastDrawn} SELECT objid::int8 AS part FROM pg_catalog.pg_locks WHERE locktype = 'advisory' AND granted
      AND database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())
      AND classid = ${lockKey}::oid AND objsubid = 2 AND objid::int8 < ${lockNumbers}; ${lastDrawn}`,
  );
  const lastNow = numberOf(after[0]?.['last_value']);
  const locked = locks.map(({ part }) => lastNow - ((lastNow - numberOf(part)) % lockNumbers));
  return Math.min(numberOf(before[0]?.['last_value']), ...locked);
}

/** A text that was stored as bytes. */
export const storedText = (value: unknown): string => textOfBytes(bytesOf(value));

export const optionalText = (value: unknown): string | undefined =>
  isNull(value) ? undefined : storedText(value);

export const headersIn = (value: unknown): StoredDelivery['headers'] =>
  JSON.parse(storedText(value)) as [string, string][];

/** Where the lead is in the body of a row of `deliveries`. */
export const placeOf = ({ lead_start: start, lead_end: end }: Row): Span | undefined =>
  isNull(start) || isNull(end) ? undefined : { start: numberOf(start), end: numberOf(end) };

type Content = Pick<DeliveryContent, 'headers' | 'body'>;

/** Reads headers and body that the leads of one delivery share. */
export class ContentReader {
  readonly #database: OpenedSchema;
  /** The leads of a delivery mostly follow each other. */
  #last: { readonly seq: number; readonly content: Content } | undefined;

  constructor(database: OpenedSchema) {
    this.#database = database;
  }

  /** `seq`: number of the first of the leads. Empty where it was pruned meanwhile. */
  async find(seq: number): Promise<Content> {
    if (this.#last?.seq === seq) return this.#last.content;
    const [row] = await askOne(
      this.#database,
      sql`SELECT encode(headers, 'hex') AS headers, encode(body, 'hex') AS body FROM ${this.#database.schema}.contents WHERE seq = ${seq}`,
    );
    const content = {
      headers: row === undefined ? [] : headersIn(row['headers']),
      body: bytesOf(row?.['body']),
    };
    this.#last = { seq, content };
    return content;
  }
}

const resultsSchema = z.array(
  z.object({
    target: z.string(),
    ok: z.boolean(),
    answer: z.string(),
    at: z.number(),
    durationMs: z.number(),
    kind: z.enum(['forward', 'retry', 'replay', 'repair']),
    address: z.optional(z.string()),
  }),
);

/** What the column `results` has as JSON; empty where nothing was stored. */
export const resultsIn = (json: string): readonly StoredResult[] =>
  json === '' ? [] : z.parse(resultsSchema, JSON.parse(json));
