import { TemporaryRecords } from '../output/records/temporary-records.ts';
import { type Finding, type FindingClass, findingClasses } from './audit-finding.ts';

/** Findings by class, any number of them: what does not fit into a little memory waits in temporary files. */
export class FindingSpool {
  readonly #byClass = new Map<FindingClass, TemporaryRecords>();
  readonly #counts = new Map<FindingClass, number>();

  count(kind: FindingClass): number {
    return this.#counts.get(kind) ?? 0;
  }

  async add(finding: Finding): Promise<void> {
    const records = this.#byClass.get(finding.class) ?? (await TemporaryRecords.open());
    this.#byClass.set(finding.class, records);
    this.#counts.set(finding.class, this.count(finding.class) + 1);
    await records.write([{ bytes: Buffer.from(JSON.stringify(finding)) }]);
  }

  /** Class by class, in the order in which they were found. May be read again. */
  async *findings(classes: readonly FindingClass[] = findingClasses): AsyncGenerator<Finding> {
    for (const kind of classes) {
      for await (const batch of this.#byClass.get(kind)?.records() ?? []) {
        for (const { bytes } of batch) yield JSON.parse(Buffer.from(bytes).toString('utf8')) as Finding;
      }
    }
  }

  async close(): Promise<void> {
    for (const records of this.#byClass.values()) await records.close();
  }
}
