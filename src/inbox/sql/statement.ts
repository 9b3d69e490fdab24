import type { Row, Rows, Value } from './row.ts';

/** A statement in the form that both databases share: `?` stands for each of its values, in order, and `@` marks a table's name. */
export class Query {
  readonly text: string;
  readonly values: readonly Value[];

  constructor(text: string, values: readonly Value[] = []) {
    this.text = text;
    this.values = values;
  }
}

/** Rows that are added to a table, each with a value for every column: the driver makes its own statements of them. */
export interface Insertion {
  readonly into: string;
  readonly rows: readonly (readonly Value[])[];
}

export type Statement = Query | Insertion;

/**
 * The work of a transaction, in steps: it yields statements, and gets the rows of each of them back. It never waits by itself, so that
 * the driver of SQLite can run it at once, while that of PostgreSQL waits for each answer.
 */
export type Work<T> = Generator<readonly Statement[], T, readonly Rows[]>;

/**
 * The state in which a transaction begins: the last number of a delivery (`seq`), and the time in milliseconds since the epoch. `now` is by the
 * clock that all who share the inbox have in common. `clockAhead` is by how much that clock was set back so far; `forwardsNow`, the
 * time of the table `forwards`, has it added, so that it never goes back.
 */
export interface Start {
  readonly seq: number;
  readonly now: number;
  readonly clockAhead: number;
  readonly forwardsNow: number;
}

/** `meta`: the `metaColumns` of that row, read once no other transaction writes. `now`: the time at that moment. */
export function startOf(meta: Row = {}, now: number): Start {
  const { seq, noted_at: lastNow, clock_ahead: lastAhead } = meta;
  const setBackBy = Math.max(0, Number(lastNow) - now);
  const clockAhead = Number(lastAhead) + setBackBy;
  return { seq: Number(seq), now, clockAhead, forwardsNow: now + clockAhead };
}

export const metaColumns = 'seq, noted_at, clock_ahead';

/** Makes a query of a template: a value in it becomes a parameter, never a part of the text; a query in it adds its text and values. */
export function sql(strings: TemplateStringsArray, ...parts: readonly (Query | Value)[]): Query {
  let text = strings[0] ?? '';
  const values: Value[] = [];
  parts.forEach((part, i) => {
    if (part instanceof Query) {
      text += part.text;
      values.push(...part.values);
    } else {
      text += '?';
      values.push(part);
    }
    text += strings[i + 1] ?? '';
  });
  return new Query(text, values);
}

/** SQL of our own that becomes a part of a query, such as the name of a function. */
export const raw = (text: string): Query => new Query(text);

export function* ask(query: Query): Work<Rows> {
  const [rows = []] = yield [query];
  return rows;
}

/**
 * A text that no column can hold: SQLite would end it at a NUL and PostgreSQL refuse it, and half a surrogate pair has no UTF-8, so
 * that two such ids would become one. `toColumn` stores such a text as JSON after `json:`, and one that looks like this as well.
 */
const unstorable = /\0|^json:"|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

export const toColumn = (text: string): string =>
  unstorable.test(text) ? `json:${JSON.stringify(text)}` : text;

export const fromColumn = (text: string): string =>
  text.startsWith('json:"') ? (JSON.parse(text.slice(5)) as string) : text;
