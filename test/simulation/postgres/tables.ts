/** The tables of the inbox that the functions work on; keys and short values are hex, as the product's statements give them. */
export interface Tables {
  readonly ids: Map<string, IdRow>;
  /** By lead and target. */
  readonly outstanding: Map<string, OutstandingRow>;
  readonly deliveries: Map<number, DeliveryRow>;
  readonly contents: Map<number, ContentRow>;
  readonly nonces: Map<string, NonceRow>;
  /** By the digest of the id. */
  readonly erased: Map<string, ErasedRow>;
  /** Labels by names. */
  readonly targets: Map<string, Buffer>;
  /** By owner and target. */
  readonly receivers: Map<string, ReceiverRow>;
}

interface IdRow {
  readonly id: string;
  readonly seq: number;
  readonly firstAt: number;
  readonly digest: string;
  readonly attempts: number;
  readonly accepted: boolean;
  readonly pushed: boolean;
  readonly settled: string;
}

export interface OutstandingRow {
  readonly lead: string;
  readonly target: string;
  readonly seq: number;
  readonly firstAt: number;
  readonly owner: string;
  readonly lease: number;
  readonly since: number;
  readonly dueAt: number;
  readonly tries: number;
  readonly dead: boolean;
}

interface ContentRow {
  readonly headers: Buffer;
  readonly body: Buffer;
}

export interface DeliveryRow extends ContentRow {
  readonly seq: number;
  readonly receivedAt: number;
  readonly lead: string | null;
  readonly verdict: string;
  readonly reason: string | null;
  readonly detail: Buffer | null;
  readonly status: number;
  readonly attempt: number;
  readonly source: string;
  readonly differs: Buffer | null;
  readonly remote: Buffer | null;
  readonly method: Buffer | null;
  readonly path: Buffer | null;
  readonly leadStart: number | null;
  readonly leadEnd: number | null;
  readonly firstSeq: number | null;
  readonly results: Buffer | null;
}

interface NonceRow {
  readonly digest: string;
  readonly expires: number;
}

interface ErasedRow {
  readonly seq: number;
  readonly firstAt: number;
  readonly attempts: number;
}

interface ReceiverRow {
  readonly owner: string;
  readonly target: string;
  readonly seen: number;
}

export const newTables = (): Tables => ({
  ids: new Map(),
  outstanding: new Map(),
  deliveries: new Map(),
  contents: new Map(),
  nonces: new Map(),
  erased: new Map(),
  targets: new Map(),
  receivers: new Map(),
});

/** Changes of one transaction: made at once, and taken back where it is rolled back. Rows are replaced, never changed. */
export class Changes {
  readonly #made: { readonly make: () => void; readonly undo: () => void }[] = [];

  set<K, V>(table: Map<K, V>, key: K, row: V): void {
    const before = table.get(key);
    this.#make({
      make: () => table.set(key, row),
      undo: () => (before === undefined ? table.delete(key) : table.set(key, before)),
    });
  }

  delete<K, V>(table: Map<K, V>, key: K): void {
    const before = table.get(key);
    if (before === undefined) return;
    this.#make({ make: () => table.delete(key), undo: () => table.set(key, before) });
  }

  undo(): void {
    for (const { undo } of [...this.#made].reverse()) undo();
  }

  /** Looks at the tables as they are for everybody else. */
  without<T>(look: () => T): T {
    this.undo();
    const seen = look();
    for (const { make } of this.#made) make();
    return seen;
  }

  #make(change: { readonly make: () => void; readonly undo: () => void }): void {
    change.make();
    this.#made.push(change);
  }
}
