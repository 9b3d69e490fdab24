import { messageOf } from '../../errors.ts';
import type { InboxMonitor } from '../../inbox/inbox-monitor.ts';
import type { Clock } from '../../time/clock.ts';

/** So old an answer of the inbox is still good, and so long it may take: in milliseconds. */
const freshMs = 1000;
const longestMs = 2000;

interface ReadinessOptions {
  readonly inbox: Pick<InboxMonitor, 'checkWritable'>;
  readonly clock: Pick<Clock, 'steady' | 'sleep'>;
  /** Aborted as soon as the run is to end. */
  readonly stopping: AbortSignal;
}

/**
 * Whether deliveries are to be sent here. The inbox is asked to write, since what failed last would never be tried again
 * once nobody sends anything here.
 */
export class Readiness {
  readonly #options: ReadinessOptions;
  #isServing = false;
  #asked: { readonly at: number; readonly answer: Promise<string | undefined> } | undefined;

  constructor(options: ReadinessOptions) {
    this.#options = options;
  }

  /** The socket for deliveries is open. */
  serving(): void {
    this.#isServing = true;
  }

  /** Why nothing is to be sent here, in one line; undefined when it is ready. */
  async whyNot(): Promise<string | undefined> {
    const { stopping } = this.#options;
    if (!this.#isServing) return 'starting';
    if (stopping.aborted) return 'draining: it is about to end';
    const problem = await this.#problem();
    return problem?.replace(/\s+/g, ' ');
  }

  /** Many who ask at the same time cost one write. */
  #problem(): Promise<string | undefined> {
    const at = this.#options.clock.steady();
    if (this.#asked === undefined || at - this.#asked.at >= freshMs) {
      this.#asked = { at, answer: this.#ask() };
    }
    return this.#asked.answer;
  }

  async #ask(): Promise<string | undefined> {
    const { inbox, clock } = this.#options;
    const answered = new AbortController();
    const tooLong = clock.sleep(longestMs, answered.signal).then(
      () => `the inbox has not written for ${longestMs / 1000} s`,
      () => undefined,
    );
    const written = inbox.checkWritable().then(() => undefined, messageOf);
    try {
      return await Promise.race([written, tooLong]);
    } finally {
      answered.abort();
    }
  }
}
