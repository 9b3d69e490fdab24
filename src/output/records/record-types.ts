/** A lead as the writers need it: its own compact bytes. */
export interface RecordBytes {
  readonly bytes: Uint8Array;
  /** The memory that `bytes` are a part of, if they are: neighbours in it are then copied at once. */
  readonly source?: Uint8Array;
  readonly start?: number;
  readonly end?: number;
}

/** Writes leads in one form of data. All of it may be held back until `flush` or `end`. */
export interface RecordWriter {
  write(leads: readonly RecordBytes[]): Promise<void>;
  /** Passes on what was held back, as far as the form allows: for a reader that is waiting. */
  flush(): Promise<void>;
  /** Completes the form. The sink below is flushed and stays open. */
  end(): Promise<void>;
}

/** Where bytes go. `write` has taken them when it resolves: the caller may reuse the memory. */
export interface ByteSink {
  write(bytes: Uint8Array): Promise<void>;
  /** Completes what was written, such as a compressed stream. */
  end(): Promise<void>;
}

export const recordFormats = ['ndjson', 'csv', 'json', 'xlsx'] as const;
export type RecordFormat = (typeof recordFormats)[number];

export interface WriterOptions {
  /** Dotted paths. NDJSON, JSON: only these, in this order; CSV, XLSX: columns behind those of the specification. */
  readonly fields?: readonly string[] | undefined;
  /** CSV, XLSX: the dotted path of the field that identifies a lead, which fills the column `id`. Default `id`. */
  readonly idName?: string | undefined;
  /** CSV: these columns and no others. */
  readonly columns?: readonly string[] | undefined;
  /** The bytes end on a terminal: what could drive it is escaped. */
  readonly terminal?: boolean | undefined;
  /** CSV: a text that begins like a formula gets an apostrophe before it. Default true. */
  readonly escapeFormulas?: boolean | undefined;
  /** CSV: begins with U+FEFF, by which Excel knows UTF-8. Default false. */
  readonly byteOrderMark?: boolean | undefined;
  /** CSV: begins with the names of the columns. Default true. */
  readonly header?: boolean | undefined;
  /** CSV: between two cells. Default a comma. */
  readonly delimiter?: string | undefined;
  /** XLSX: in which times are shown. Default UTC. */
  readonly zone?: string | undefined;
  /** XLSX: is told at the end how many cells were cut, if any were. */
  readonly onCut?: ((cells: number) => void) | undefined;
  /** CSV, XLSX: is told at the end in how many cells something is U+FFFD that their encoding cannot hold, if in any. */
  readonly onReplaced?: ((cells: number) => void) | undefined;
}
