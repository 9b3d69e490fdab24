import { utf8 } from '../json/bytes.ts';
import { TemporaryRecords } from './temporary-records.ts';
import type { Finding, FindingClass } from './classify-lead.ts';

/** A lead of the service's list. */
export interface TemporaryLead {
  readonly id: string;
  /** As the lead says it. */
  readonly createdAt: string | undefined;
  /** The service's own, compact. */
  readonly bytes: Uint8Array;
}

/** Between what is known of a lead and its bytes; neither can contain it. */
const tab = 0x09;
const separator = Buffer.of(tab);

/** Any number of records: what does not fit into a little memory waits in a temporary file. */
abstract class Spool {
  protected readonly records = new TemporaryRecords();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  close(): Promise<void> {
    return this.records.close();
  }

  /** Copies the bytes of one record. Resolves at once, to nothing, as long as there is room. */
  protected append(...parts: readonly Uint8Array[]): Promise<void> | undefined {
    this.#count += 1;
    return this.records.append(...parts);
  }
}

/** Pulled leads. */
export class LeadSpool extends Spool {
  async add({ id, createdAt, bytes }: TemporaryLead): Promise<void> {
    await this.append(Buffer.from(JSON.stringify([id, createdAt ?? null])), separator, bytes);
  }

  /** In the order in which they were added. A batch is valid until the next one is requested. May be read again. */
  async *leads(): AsyncGenerator<readonly TemporaryLead[]> {
    for await (const batch of this.records.records()) {
      yield batch.map(({ bytes }) => {
        const end = bytes.indexOf(tab);
        const [id, createdAt] = parsed(bytes.subarray(0, end)) as [string, string | null];
        return { id, createdAt: createdAt ?? undefined, bytes: bytes.subarray(end + 1) };
      });
    }
  }
}

/** Values that JSON can hold. */
export class ValueSpool<T> extends Spool {
  async add(...values: readonly T[]): Promise<void> {
    for (const value of values) {
      const written = this.append(Buffer.from(JSON.stringify(value)));
      if (written !== undefined) await written;
    }
  }

  /** In the order in which they were added. May be read again. */
  async *values(): AsyncGenerator<T> {
    for await (const batch of this.records.records()) for (const { bytes } of batch) yield parsed(bytes) as T;
  }
}

const parsed = (json: Uint8Array): unknown => JSON.parse(utf8(json));

/** Findings by class. */
export class FindingSpool {
  readonly #byClass = new Map<FindingClass, ValueSpool<Finding>>();

  count(kind: FindingClass): number {
    return this.#byClass.get(kind)?.count ?? 0;
  }

  async add(finding: Finding): Promise<void> {
    const spool = this.#byClass.get(finding.class) ?? new ValueSpool<Finding>();
    this.#byClass.set(finding.class, spool);
    await spool.add(finding);
  }

  /** Class by class, in the order in which they were found. May be read again. */
  async *findings(classes: readonly FindingClass[]): AsyncGenerator<Finding> {
    for (const kind of classes) yield* this.#byClass.get(kind)?.values() ?? [];
  }

  async close(): Promise<void> {
    for (const spool of this.#byClass.values()) await spool.close();
  }
}
