import type { InboxQuery } from '../inbox.ts';
import type { InboxChanges, InboxExtent } from '../search/inbox-changes.ts';
import type { SearchStep } from '../search/search-step.ts';
import type { MemoryWriter } from './memory-writer.ts';

/** Deliveries that one step of a search gives. */
const stepRows = 200;

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
    for (const delivery of this.#writer.deliveries.newestFirst(query, isOutstanding)) {
      candidates.push(delivery);
      if (candidates.length < stepRows) continue;
      yield { candidates, looked: candidates.length };
      candidates = [];
    }
    yield { candidates, looked: candidates.length };
    await Promise.resolve();
  }
}
