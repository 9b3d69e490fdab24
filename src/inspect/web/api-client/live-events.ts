import type { WireEvent } from '../../wire.ts';
import { Observable } from '../state/observable.ts';
import type { Api } from './api.ts';
import { type Problem, problemOf } from './problem.ts';

/** `paused`: the tab is hidden. `ended`: a new URL is needed. */
export interface Connection {
  readonly state: 'connecting' | 'live' | 'lost' | 'paused' | 'ended';
  readonly problem: Problem | null;
}

const firstDelayMs = 250;
const longestDelayMs = 5_000;

/** Longer than the empty lines take that show each second that a connection lives; ms. */
const silenceMs = 2_800;

/** The stream of events: closed while the tab is hidden, opened again with growing delays where it broke off. */
export class LiveEvents {
  readonly connection = new Observable<Connection>({ state: 'connecting', problem: null });
  readonly #api: Api;
  readonly #onEvent: (event: WireEvent) => void;
  /** Called when events were missed perhaps: those of older deliveries have no number to resume from. */
  readonly #onResumed: () => void;
  #newestSeq: number;
  #open = new AbortController();
  #retry: number | undefined;
  #delayMs = firstDelayMs;
  #isBehind = false;

  constructor(api: Api, newestSeq: number, onEvent: (event: WireEvent) => void, onResumed: () => void) {
    this.#api = api;
    this.#newestSeq = newestSeq;
    this.#onEvent = onEvent;
    this.#onResumed = onResumed;
  }

  start(): void {
    document.addEventListener('visibilitychange', () => this.#follow());
    addEventListener('online', () => this.#follow());
    this.#follow();
  }

  /** Tries again at once. */
  retry(): void {
    this.#follow();
  }

  #follow(): void {
    if (this.connection.value.state === 'ended') return;
    this.#open.abort();
    // One that was given up just now ends behind this, and is not to begin another.
    this.#open = new AbortController();
    clearTimeout(this.#retry);
    this.#delayMs = firstDelayMs;
    if (document.hidden) {
      this.#isBehind = true;
      this.connection.value = { state: 'paused', problem: null };
    } else void this.#read();
  }

  async #read(): Promise<void> {
    const open = (this.#open = new AbortController());
    let isSilent = false as boolean;
    const giveUp = (): void => {
      isSilent = true;
      open.abort();
    };
    let silence = setTimeout(giveUp, silenceMs);
    const onAlive = (): void => {
      clearTimeout(silence);
      silence = setTimeout(giveUp, silenceMs);
      if (this.connection.value.state !== 'live') this.#opened();
    };
    if (this.connection.value.state !== 'lost') this.connection.change({ state: 'connecting' });
    try {
      const path = `/api/events?after=${this.#newestSeq}`;
      for await (const event of this.#api.lines<WireEvent>(path, open.signal, onAlive)) this.#take(event);
      if (open === this.#open) this.#lost(null);
    } catch (error) {
      if (open === this.#open) this.#lost(isSilent ? null : problemOf(error));
    } finally {
      clearTimeout(silence);
    }
  }

  #opened(): void {
    this.connection.value = { state: 'live', problem: null };
    this.#delayMs = firstDelayMs;
    if (this.#isBehind) this.#onResumed();
    this.#isBehind = false;
  }

  #take(event: WireEvent): void {
    if (event.type === 'deliveries') this.#newestSeq = event.newestSeq;
    this.#onEvent(event);
  }

  #lost(problem: Problem | null): void {
    if (problem?.needsNewUrl === true) {
      this.connection.value = { state: 'ended', problem };
      return;
    }
    this.#isBehind = true;
    this.connection.value = { state: 'lost', problem };
    // Tabs that lost the same program do not all come back in the same instant.
    this.#retry = setTimeout(() => void this.#read(), this.#delayMs * (0.75 + Math.random() / 2));
    this.#delayMs = Math.min(this.#delayMs * 2, longestDelayMs);
  }
}
