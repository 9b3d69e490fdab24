import { DataError } from '../../errors.ts';
import type { Messages } from '../../output/messages.ts';
import { looksFull } from '../pagination/pagination-probe.ts';

/** A page that names no next one. */
interface SilentPage {
  readonly count: number;
  /** Different records met up to its end. */
  readonly walked: number;
  readonly pageSize: number | undefined;
  readonly total: number | undefined;
}

/** What a page means that says nothing about a next one. */
export class SilentEnd {
  readonly #messages: Messages;
  /** The service was asked for some of its leads only: its total may count the others, too. */
  readonly #isFiltered: boolean;

  constructor(messages: Messages, isFiltered: boolean) {
    this.#messages = messages;
    this.#isFiltered = isFiltered;
  }

  /** Whether there may be more. */
  isDoubtful({ count, walked, pageSize, total }: SilentPage): boolean {
    return total === undefined ? looksFull(count, pageSize) : walked < total;
  }

  /** No probe found more: a note, or a `DataError` where the total shows that there is more. */
  report({ count, walked, pageSize, total }: SilentPage): void {
    if (total === undefined) {
      this.#messages.note(
        'silent',
        `${count} leads came and the answer names no next page: there may be more (see api.pagination)`,
      );
      return;
    }
    if (!this.#isFiltered || looksFull(count, pageSize)) throw unreachableRest(walked, total);
    this.#messages.note(
      'silent',
      `the service counts ${total} leads and gave ${walked}: its total may ignore the filter`,
    );
  }
}

function unreachableRest(walked: number, total: number): DataError {
  return new DataError(
    `the service has ${total} leads, and its answers show no way past the first ${walked}`,
    { hint: "say how it pages: 'leads config set api.pagination page' (or offset, cursor, link)" },
  );
}
