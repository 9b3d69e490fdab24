import type { InboxQuery } from '../inbox.ts';
import type { InboxChanges, InboxExtent } from '../search/inbox-changes.ts';
import type { SearchStep } from '../search/search-step.ts';
import type { MemoryWriter } from './memory-writer.ts';

/** Deliveries that one step of a search gives, and bytes of their bodies, unless a single one has more. */
const stepRows = 200;
const stepBytes = 1024 * 1024;

/** Answers what `InboxChanges` asks, of a store in memory. */
export class MemoryChanges implements InboxChanges {
  readonly #writer: Pick<MemoryWriter, 'deliveries' | 'erased' | 'unsettled'>;

  constructor(writer: Pick<MemoryWriter, 'deliveries' | 'erased' | 'unsettled'>) {
    this.#writer = writer;
  }

  changeMark(): Promise<string> {
    return Promise.resolve(String(this.#writer.deliveries.changes));
  }

  extent(): Promise<InboxExtent> {
    const { deliveries, erased } = this.#writer;
    return Promise.resolve({
      newestSeq: deliveries.lastSeq,
      oldestSeq: deliveries.oldestSeq,
      erased: erased.size,
    });
  }

  outcomeMarks(seqs: readonly number[]): Promise<ReadonlyMap<number, string>> {
    return Promise.resolve(this.#writer.deliveries.outcomeMarks(seqs));
  }

  /** Everything is a candidate. */
  async *search(_text: string, query: InboxQuery): AsyncGenerator<SearchStep> {
    const isOutstanding = (leadId: string): boolean => this.#writer.unsettled(leadId).length > 0;
    let candidates: SearchStep['candidates'][number][] = [];
    let bytes = 0;
    for (const delivery of this.#writer.deliveries.newestFirst(query, isOutstanding)) {
      candidates.push(delivery);
      bytes += delivery.body.length;
      if (candidates.length < stepRows && bytes < stepBytes) continue;
      yield { candidates, looked: candidates.length };
      [candidates, bytes] = [[], 0];
    }
    yield { candidates, looked: candidates.length };
    await Promise.resolve();
  }
}
