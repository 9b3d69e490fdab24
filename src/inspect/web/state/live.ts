import type { WireInbox } from '../../wire.ts';
import type { Api } from './api.ts';
import { type Problem, problemOf } from './problem.ts';

/** `unreadable` means that the program answers, but cannot read the inbox; `ended` means that a new URL is needed. */
export interface Connection {
  readonly state: 'connecting' | 'live' | 'unreadable' | 'lost' | 'ended';
  readonly detail?: string | undefined;
}

const pollMs = 250;

/** The connection is lost after this time without a response. */
const silenceMs = 3_000;

/** After a poll and its refresh, the page waits this many times as long as both took: the program is idle most of the time. */
const idleFactor = 4;

const longestDelayMs = 5_000;

/**
 * Polls for changes of the inbox, except while the tab is hidden, and less often while nothing answers. After every poll `refresh`
 * is called, and resolves to whether the page shows the present state, whose mark is then `#mark`.
 */
export class Live {
  connection: Connection = { state: 'connecting' };
  readonly #api: Api;
  readonly #refresh: (hasChanged: boolean) => Promise<boolean>;
  readonly #onConnection: () => void;
  #mark: string | null = null;
  #delayMs = pollMs;
  #wake = (): void => undefined;

  constructor(api: Api, refresh: (hasChanged: boolean) => Promise<boolean>, onConnection: () => void) {
    this.#api = api;
    this.#refresh = refresh;
    this.#onConnection = onConnection;
  }

  async run(): Promise<void> {
    document.addEventListener('visibilitychange', () => !document.hidden && this.#wake());
    while (this.connection.state !== 'ended') {
      if (!document.hidden) await this.#poll();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        if (!document.hidden) setTimeout(resolve, this.#delayMs);
      });
    }
  }

  async #poll(): Promise<void> {
    const startedAt = performance.now();
    try {
      const { mark } = await this.#api.get<WireInbox>('/api/inbox', AbortSignal.timeout(silenceMs));
      if (await this.#refresh(mark !== this.#mark)) this.#mark = mark;
      this.#setConnection({ state: 'live' });
      this.#delayMs = Math.max(pollMs, idleFactor * (performance.now() - startedAt));
    } catch (error) {
      this.#fail(problemOf(error));
    }
  }

  #fail({ code, message, needsNewUrl }: Problem): void {
    this.#mark = null;
    if (code === 'inbox-failed') {
      this.#setConnection({ state: 'unreadable', detail: message });
      this.#delayMs = pollMs;
      return;
    }
    this.#setConnection({ state: needsNewUrl ? 'ended' : 'lost' });
    this.#delayMs = Math.min(this.#delayMs * 2, longestDelayMs);
  }

  #setConnection(connection: Connection): void {
    if (connection.state === this.connection.state && connection.detail === this.connection.detail) return;
    this.connection = connection;
    this.#onConnection();
  }
}
