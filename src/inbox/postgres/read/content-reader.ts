import type { DeliveryContent } from '../../delivery-record.ts';
import { bytesOf } from '../sql/result-row.ts';
import { sql } from '../sql/sql.ts';
import { askOne, type ReadDatabase } from './read-database.ts';
import { headersIn } from './stored-columns.ts';

type Content = Pick<DeliveryContent, 'headers' | 'body'>;

/** Reads headers and body that the leads of one delivery share. */
export class ContentReader {
  readonly #database: ReadDatabase;
  /** The leads of a delivery mostly follow each other. */
  #last: { readonly seq: number; readonly content: Content } | undefined;

  constructor(database: ReadDatabase) {
    this.#database = database;
  }

  /** `seq`: number of the first of the leads. Empty where it was pruned meanwhile. */
  async find(seq: number, receivedAt: number): Promise<Content> {
    if (this.#last?.seq === seq) return this.#last.content;
    const [row] = await askOne(
      this.#database,
      sql`SELECT encode(headers, 'hex') AS headers, encode(body, 'hex') AS body FROM ${this.#database.schema}.contents
        WHERE seq = ${seq} AND received_at = ${receivedAt}`,
    );
    const content = {
      headers: row === undefined ? [] : headersIn(row['headers']),
      body: bytesOf(row?.['body']),
    };
    this.#last = { seq, content };
    return content;
  }
}
