import type { DeliveryContent } from '../../delivery-record.ts';
import { bytesOf, textOf } from '../column.ts';
import type { Database, Statement } from '../libsql.ts';

type Content = Pick<DeliveryContent, 'headers' | 'body'>;

/**
 * The table `shared_content`: headers and body of a delivery that brought several leads, once for all of them, under the
 * number of the first. It goes with the last of them.
 */
export class SharedContentTable {
  readonly #insert: Statement;
  readonly #find: Statement;
  /** The leads of a delivery mostly follow each other. */
  #last: { readonly seq: number; readonly content: Content } | undefined;

  constructor(database: Database) {
    this.#insert = database.prepare('INSERT INTO shared_content VALUES (?, ?, ?)');
    this.#find = database.prepare('SELECT headers, body FROM shared_content WHERE seq = ?');
  }

  insert(seq: number, { headers, body }: Content): void {
    this.#insert.run([seq, JSON.stringify(headers), body]);
  }

  /** Empty where a damaged file has lost it. */
  find(seq: number): Content {
    if (this.#last?.seq === seq) return this.#last.content;
    const [row] = this.#find.all([seq]);
    const headers = JSON.parse(textOf(row?.['headers']) || '[]') as [string, string][];
    const content = { headers, body: bytesOf(row?.['body']) };
    this.#last = { seq, content };
    return content;
  }

  /** What was read may have been erased since, or rolled back and its number used again. */
  forget(): void {
    this.#last = undefined;
  }
}
