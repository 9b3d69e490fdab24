import type { WireChanges } from '../../wire.ts';
import { Observable } from '../state/observable.ts';
import { type AnswerSource, type Problem, problemOf } from './problem.ts';

/** `ended`: a new URL is needed. */
export interface Connection {
  readonly state: 'connecting' | 'live' | 'lost' | 'ended';
  /** Why the program cannot read the inbox now. */
  readonly inboxProblem: string | null;
}

/** Between two looks at the inbox; ms. */
const everyMs = 250;

/** A program that says nothing for so long stands still; ms. */
const silenceMs = 3_000;

/** A page that takes long to read is read less often, so that the program is idle most of the time. */
const idleShare = 4;

const firstDelayMs = 250;
const longestDelayMs = 5_000;

/** Asks again and again whether the inbox changed, unless the tab is hidden; more seldom while nobody answers. */
export class Live {
  readonly connection = new Observable<Connection>({ state: 'connecting', inboxProblem: null });
  readonly #api: AnswerSource;
  readonly #onChange: () => Promise<void>;
  #mark: string | null = null;
  #delayMs = firstDelayMs;
  #wake = (): void => undefined;

  /** `onChange` reads what may be another one now; the next look comes after it. */
  constructor(api: AnswerSource, onChange: () => Promise<void>) {
    this.#api = api;
    this.#onChange = onChange;
  }

  async start(): Promise<void> {
    document.addEventListener('visibilitychange', () => this.retry());
    addEventListener('online', () => this.retry());
    while (this.connection.value.state !== 'ended') {
      if (!document.hidden) await this.#look();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        if (!document.hidden) setTimeout(resolve, this.#delayMs);
      });
    }
  }

  /** Looks at once. */
  retry(): void {
    if (!document.hidden) this.#wake();
  }

  async #look(): Promise<void> {
    const startedAt = performance.now();
    try {
      const { mark } = await this.#api.get<WireChanges>('/api/changes', AbortSignal.timeout(silenceMs));
      if (mark !== this.#mark) await this.#onChange();
      this.#mark = mark;
      this.#is('live');
      this.#delayMs = Math.max(everyMs, idleShare * (performance.now() - startedAt));
    } catch (error) {
      this.#failed(problemOf(error));
    }
  }

  #failed({ code, message, needsNewUrl }: Problem): void {
    // What was missed meanwhile is read again.
    this.#mark = null;
    if (code === 'inbox-failed') {
      this.#is('live', message);
      this.#delayMs = everyMs;
      return;
    }
    const isFirst = this.connection.value.state !== 'lost';
    this.#is(needsNewUrl ? 'ended' : 'lost');
    // Tabs that lost the same program do not all come back in the same instant.
    this.#delayMs =
      (isFirst ? firstDelayMs : Math.min(this.#delayMs * 2, longestDelayMs)) * (0.75 + Math.random() / 4);
  }

  #is(state: Connection['state'], inboxProblem: string | null = null): void {
    const { value: before } = this.connection;
    if (before.state !== state || before.inboxProblem !== inboxProblem) {
      this.connection.value = { state, inboxProblem };
    }
  }
}
