/** What a report says: plain data, in the order in which it is read. Nothing in it is escaped. */
export interface Report {
  readonly title: string;
  /** What made it, such as `leads inspect 1.2.0`. */
  readonly program: string;
  /** Milliseconds since the epoch. */
  readonly madeAt: number;
  /** In which times are shown. */
  readonly zone: string;
  /** Whether what is of persons is in it; left out: nothing is. */
  readonly personalData?: 'reduced' | 'whole' | undefined;
  readonly facts: readonly (readonly [name: string, text: string])[];
  /** What a reader must know before the figures. */
  readonly notices?: readonly string[] | undefined;
  readonly sections: readonly Section[];
}

/** Of a table. */
export type Cell = string | { readonly text: string; readonly tone: Tone };

/** How something is to be taken; never said by a colour alone. */
export type Tone = 'good' | 'plain' | 'doubtful' | 'bad' | 'other';

export type Section = Figures | Bars | TimeChart | Table;

/** A few numbers that are read first. */
interface Figures {
  readonly kind: 'figures';
  readonly title: string;
  readonly figures: readonly {
    readonly name: string;
    readonly value: string;
    /** Such as a share. */
    readonly note?: string | undefined;
    readonly tone?: Tone | undefined;
  }[];
}

/** Numbers that are compared, each with a bar. */
interface Bars {
  readonly kind: 'bars';
  readonly title: string;
  /** What the labels are, and what is counted. */
  readonly heads: readonly [label: string, count: string];
  /** Of which the shares are; left out: there are none. */
  readonly total?: number | undefined;
  readonly rows: readonly {
    readonly label: string;
    readonly count: number;
    readonly note?: string | undefined;
    readonly tone?: Tone | undefined;
    /** All others together: a bar as long as theirs would leave none for the rows. */
    readonly isRest?: boolean | undefined;
  }[];
}

/** Counts over time, stacked. */
export interface TimeChart {
  readonly kind: 'time';
  readonly title: string;
  readonly stacks: readonly { readonly name: string; readonly tone: Tone }[];
  /** In order, all of the same length. */
  readonly buckets: readonly {
    /** `2026-01-31`, with the time behind it where buckets are shorter than a day. */
    readonly label: string;
    /** One for each stack. */
    readonly counts: readonly number[];
  }[];
  /** Of so many of the first buckets it is not known whether more came. */
  readonly unknown?: number | undefined;
}

interface Table {
  readonly kind: 'table';
  readonly title: string;
  readonly columns: readonly { readonly name: string; readonly isNumber?: boolean }[];
  readonly rows: readonly (readonly Cell[])[];
  /** What stands below it, such as how many more there are; or in its place where it has no rows. */
  readonly note?: string | undefined;
}

/** Rows of one table: a report is read by a person. */
export const mostReportRows = 1000;

/** Deliveries by a label, the most frequent ones first. */
export function deliveryBars(
  title: string,
  head: string,
  counts: Iterable<readonly [label: string, count: number]>,
  tone?: Tone,
): Section {
  const rows = [...counts].sort(([, a], [, b]) => b - a);
  return {
    kind: 'bars',
    title,
    heads: [head, 'Deliveries'],
    total: rows.reduce((sum, [, count]) => sum + count, 0),
    rows: rows
      .slice(0, mostReportRows)
      .map(([label, count]) => ({ label: label === '' ? '(none)' : label, count, tone })),
  };
}
