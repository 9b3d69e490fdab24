import type { Row, Rows, Value } from './row.ts';

/** A statement with its values beside it: `?` stands for each of them, in order, and `@` before the name of a table. */
export class Query {
  readonly text: string;
  readonly values: readonly Value[];

  constructor(text: string, values: readonly Value[] = []) {
    this.text = text;
    this.values = values;
  }
}

export interface Insertion {
  readonly into: string;
  readonly rows: readonly (readonly Value[])[];
}

export type Statement = Query | Insertion;

/**
 * Work on a database in steps: it yields statements, gets the rows of each, and goes on. The driver of an embedded database runs
 * it at once, that of a server waits for each answer, so that one text serves both.
 */
export type Work<T> = Generator<readonly Statement[], T, readonly Rows[]>;

export interface Start {
  readonly seq: number;
  /** Milliseconds since the epoch, by the clock that all who share the inbox have in common. */
  readonly now: number;
  /** By so much that clock was set back so far, in milliseconds. */
  readonly clockAhead: number;
  /** `now` by the clock of `forwards`, which has that added, so that it never goes back. */
  readonly forwardsNow: number;
}

/** Makes it of the row of `meta`, read once no other transaction writes, and the time then. */
export function startOf(meta: Row = {}, now: number): Start {
  const { seq, noted_at: notedAt, clock_ahead: ahead } = meta;
  const clockAhead = Number(ahead) + Math.max(0, Number(notedAt) - now);
  return { seq: Number(seq), now, clockAhead, forwardsNow: now + clockAhead };
}

export const startColumns = 'seq, noted_at, clock_ahead';

/** A query, whose values become parameters: no value is ever part of a text. A query within it adds its text and its values. */
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

/** A text of our own that becomes a part of a query, such as the name of a function. */
export const raw = (text: string): Query => new Query(text);

export function* ask(query: Query): Work<Rows> {
  const [rows = []] = yield [query];
  return rows;
}

/**
 * A text of a database ends at a NUL, or may hold none, and cannot hold half a surrogate pair, so that two such ids would
 * become one: these are kept as JSON text, as is a text that looks like it.
 */
const unsafe = /\0|^json:"|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

export const toColumn = (text: string): string => (unsafe.test(text) ? `json:${JSON.stringify(text)}` : text);

export const fromColumn = (text: string): string =>
  text.startsWith('json:"') ? (JSON.parse(text.slice(5)) as string) : text;
