import type { WireInbox } from '../../wire.ts';
import { type AnswerSource, type Problem, problemOf } from './problem.ts';

/**
 * `unreadable` means that the program answers, but cannot read the inbox. `ended` means that a new URL is
 * needed.
 */
export interface Connection {
  readonly state: 'connecting' | 'live' | 'unreadable' | 'lost' | 'ended';
  readonly detail?: string | undefined;
}

const pollMs = 250;

/** In milliseconds; the connection is lost after this time without a response. */
const silenceMs = 3_000;

/** A slow page is read less often, so that the program is idle most of the time. */
const idleShare = 4;

const longestDelayMs = 5_000;

interface LiveOptions {
  readonly api: AnswerSource;
  /** Resolves to whether the page shows the present state of the inbox. */
  readonly onLook: (hasChanged: boolean) => Promise<boolean>;
  readonly onConnection: (connection: Connection) => void;
}

/** Polls for changes of the inbox, except while the tab is hidden, and less often while nothing answers. */
export class Live {
  connection: Connection = { state: 'connecting' };
  readonly #options: LiveOptions;
  #mark: string | null = null;
  #delayMs = pollMs;
  #wake = (): void => undefined;

  constructor(options: LiveOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    document.addEventListener('visibilitychange', () => this.retry());
    addEventListener('online', () => this.retry());
    while (this.connection.state !== 'ended') {
      if (!document.hidden) await this.#look();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        if (!document.hidden) setTimeout(resolve, this.#delayMs);
      });
    }
  }

  retry(): void {
    if (!document.hidden) this.#wake();
  }

  async #look(): Promise<void> {
    const { api, onLook } = this.#options;
    const startedAt = performance.now();
    try {
      const { mark } = await api.get<WireInbox>('/api/inbox', AbortSignal.timeout(silenceMs));
      if (await onLook(mark !== this.#mark)) this.#mark = mark;
      this.#connect({ state: 'live' });
      this.#delayMs = Math.max(pollMs, idleShare * (performance.now() - startedAt));
    } catch (error) {
      this.#fail(problemOf(error));
    }
  }

  #fail({ code, message, needsNewUrl }: Problem): void {
    this.#mark = null;
    if (code === 'inbox-failed') {
      this.#connect({ state: 'unreadable', detail: message });
      this.#delayMs = pollMs;
      return;
    }
    this.#connect({ state: needsNewUrl ? 'ended' : 'lost' });
    this.#delayMs = Math.min(this.#delayMs * 2, longestDelayMs);
  }

  #connect(connection: Connection): void {
    if (connection.state === this.connection.state && connection.detail === this.connection.detail) return;
    this.connection = connection;
    this.#options.onConnection(connection);
  }
}
