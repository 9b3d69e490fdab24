import type { InboxExtent } from '../../inbox/query-types.ts';
import type { InboxReader } from '../../inbox/inbox.ts';
import { storedDelivery } from '../../receiver/stored-deliveries.ts';
import type { WireRow } from '../wire.ts';
import type { Arrived, Changes } from './query-types.ts';
import { rowOf } from './delivery-row.ts';

const mostRows = 100;

/** The newest deliveries, of which a changed outcome is noticed; of older ones those that are outstanding are. */
const watchedNewest = 300;
const watchedOutstanding = 500;

/** What came behind a number. */
export async function arrivedSince(
  inbox: Pick<InboxReader, 'list' | 'extent' | 'lackingTargets'>,
  after: number,
): Promise<Arrived> {
  const { newestSeq } = await inbox.extent();
  const rows: WireRow[] = [];
  for await (const delivery of inbox.list({ after, before: newestSeq + 1 })) {
    rows.push(await rowOf(inbox, delivery));
    if (rows.length === mostRows) break;
  }
  const skipped = rows.length < mostRows ? 0 : Math.max(0, newestSeq - after - rows.length);
  return { rows: rows.reverse(), skipped, newestSeq };
}

/** Notices what others write to an inbox: asked again and again, it looks only where something was written. */
export class InboxWatch {
  readonly #inbox: Pick<InboxReader, 'list' | 'changeMark' | 'extent' | 'outcomeMarks' | 'lackingTargets'>;
  /** Outcomes of the watched deliveries as they were last told. */
  #marks: ReadonlyMap<number, string> | undefined;
  #extent: InboxExtent | undefined;
  #changeMark: string | undefined;
  /** Deliveries that changed, as somebody knows. */
  readonly #touched = new Set<number>();
  /** Something was written at the last look: a reader of a database may see the last of it only at the next one. */
  #isSettled = false;

  constructor(
    inbox: Pick<InboxReader, 'list' | 'changeMark' | 'extent' | 'outcomeMarks' | 'lackingTargets'>,
  ) {
    this.#inbox = inbox;
  }

  async changes(touched: readonly number[]): Promise<Changes> {
    const changeMark = await this.#inbox.changeMark();
    for (const seq of touched) this.#touched.add(seq);
    const isSame = changeMark === this.#changeMark;
    const isQuiet = isSame && this.#isSettled && this.#touched.size === 0;
    if (isQuiet && this.#extent !== undefined) return nothingBut(this.#extent);
    const extent = await this.#inbox.extent();
    const { changed, isGone, isMore } = await this.#changedOutcomes(extent);
    const isRemoved = isGone || (this.#extent !== undefined && hasLess(extent, this.#extent));
    this.#changeMark = changeMark;
    this.#isSettled = isSame && !isMore;
    this.#extent = extent;
    return { newestSeq: extent.newestSeq, changed, isRemoved };
  }

  async #changedOutcomes(
    extent: InboxExtent,
  ): Promise<{ readonly changed: readonly WireRow[]; readonly isGone: boolean; readonly isMore: boolean }> {
    const known = this.#marks ?? (await this.#outstandingMarks());
    const asked = watched(known, extent.newestSeq);
    const marks = await this.#inbox.outcomeMarks(asked);
    const told = new Map(marks);
    const changed: WireRow[] = [];
    let isMore = false;
    for (const [seq, mark] of marks) {
      const before = known.get(seq);
      if (before === undefined || before === mark || this.#touched.has(seq)) continue;
      if (changed.length + this.#touched.size >= mostRows) {
        told.set(seq, before);
        isMore = true;
      } else changed.push(...(await this.#rowOf(seq)));
    }
    for (const seq of this.#touched) {
      this.#touched.delete(seq);
      changed.push(...(await this.#rowOf(seq)));
    }
    this.#marks = told;
    return { changed, isGone: asked.some((seq) => known.has(seq) && !marks.has(seq)), isMore };
  }

  async #rowOf(seq: number): Promise<readonly WireRow[]> {
    const delivery = await storedDelivery(this.#inbox, seq);
    return delivery === undefined ? [] : [await rowOf(this.#inbox, delivery)];
  }

  async #outstandingMarks(): Promise<ReadonlyMap<number, string>> {
    const seqs: number[] = [];
    for await (const { seq } of this.#inbox.list({ verdicts: ['pending'] })) {
      seqs.push(seq);
      if (seqs.length === watchedOutstanding) break;
    }
    return this.#inbox.outcomeMarks(seqs);
  }
}

const nothingBut = ({ newestSeq }: InboxExtent): Changes => ({ newestSeq, changed: [], isRemoved: false });

const hasLess = (now: InboxExtent, before: InboxExtent): boolean =>
  now.erased > before.erased || now.newestSeq < before.newestSeq || now.oldestSeq > before.oldestSeq;

/** The newest ones, and the newest of those that were pending when they were last looked at. */
function watched(known: ReadonlyMap<number, string>, newestSeq: number): readonly number[] {
  const bottom = Math.max(0, newestSeq - watchedNewest);
  const newest = Array.from({ length: newestSeq - bottom }, (_, i) => bottom + 1 + i);
  const pending = [...known].filter(([seq, mark]) => seq <= bottom && mark.startsWith('pending'));
  return [...pending.map(([seq]) => seq).slice(-watchedOutstanding), ...newest];
}
