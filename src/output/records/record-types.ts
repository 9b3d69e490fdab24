/**
 * A record as compact JSON. Where `bytes` is the part [start, end) of `source`, NDJSON copies records at once that are one byte
 * apart there.
 */
export interface RecordBytes {
  readonly bytes: Uint8Array;
  readonly source?: Uint8Array;
  readonly start?: number;
  readonly end?: number;
}

/** Writes leads in a data format. It may hold everything back until `flush` or `end`. */
export interface RecordWriter {
  write(leads: readonly RecordBytes[]): Promise<void>;
  /** Writes everything that was held back, as far as the format allows, for a reader that waits. */
  flush(): Promise<void>;
  /** Completes the format, writes all of it and ends the sink; a file or stdout below the sink stays open. */
  end(): Promise<void>;
}

/** A destination for bytes. When `write` resolves, the caller may reuse the memory. */
export interface ByteSink {
  write(bytes: Uint8Array): Promise<void>;
  end(): Promise<void>;
}

export const recordFormats = ['ndjson', 'csv', 'json', 'xlsx'] as const;
export type RecordFormat = (typeof recordFormats)[number];

export interface WriterOptions {
  /**
   * Dotted paths. NDJSON and JSON hold only these, in this order; CSV and XLSX add them to the columns of the
   * specification.
   */
  readonly fields?: readonly string[] | undefined;
  /** CSV, XLSX: the dotted path of the id of a lead, for the column `id`. Default `id`. */
  readonly idName?: string | undefined;
  /** CSV: exactly these paths are the columns, without `id`, fields and `other`, for records that are no leads. */
  readonly columns?: readonly string[] | undefined;
  /** The bytes end on a terminal: characters that could drive it are escaped. */
  readonly terminal?: boolean | undefined;
  /** CSV: writes an apostrophe before a text that begins like a formula. Default true. */
  readonly escapeFormulas?: boolean | undefined;
  /** CSV: begins with U+FEFF, by which Excel recognizes UTF-8. Default false. */
  readonly byteOrderMark?: boolean | undefined;
  /** CSV: begins with the names of the columns. Default true. */
  readonly header?: boolean | undefined;
  /** CSV: stands between two cells. Default a comma. */
  readonly delimiter?: string | undefined;
  /** XLSX: the time zone of times. Default UTC. */
  readonly zone?: string | undefined;
  /** XLSX: receives the number of cut cells at the end, if any. */
  readonly onCut?: ((cells: number) => void) | undefined;
}
