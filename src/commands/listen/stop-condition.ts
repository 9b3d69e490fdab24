import { setMaxListeners } from 'node:events';
import type { Context } from '../../context.ts';

/** What ended a run. */
export type StopCause =
  | { readonly by: 'count' | 'time' | 'signal' }
  /** The reader of stdout went away, the disk is full: nothing more can be shown. */
  | { readonly by: 'failure'; readonly error: Error };

interface EndingOptions {
  /** New leads to end after. */
  readonly count: number | undefined;
  readonly forMs: number | undefined;
}

/** Waits for whatever ends a receiver first. */
export class StopCondition {
  readonly reached: Promise<StopCause>;
  readonly #stop = new AbortController();
  #left: number;
  #end: (end: StopCause) => void = () => undefined;

  constructor({ count, forMs }: EndingOptions, { clock, signal }: Pick<Context, 'clock' | 'signal'>) {
    // Every delivery that --delay holds back listens for it; node would warn of the eleventh.
    setMaxListeners(0, this.#stop.signal);
    this.#left = count ?? Number.POSITIVE_INFINITY;
    this.reached = new Promise((resolve) => {
      this.#end = (end) => {
        this.#stop.abort();
        resolve(end);
      };
    });
    const interrupted = (): void => this.#end({ by: 'signal' });
    if (signal.aborted) interrupted();
    else signal.addEventListener('abort', interrupted, { once: true, signal: this.#stop.signal });
    if (forMs !== undefined) void this.#after(clock.sleep(forMs, this.#stop.signal));
  }

  /** Aborted when the end is reached, whatever it is. */
  get over(): AbortSignal {
    return this.#stop.signal;
  }

  /** A new lead was accepted. */
  accepted(): void {
    this.#left -= 1;
    if (this.#left === 0) this.#end({ by: 'count' });
  }

  failed(error: Error): void {
    this.#end({ by: 'failure', error });
  }

  async #after(sleep: Promise<void>): Promise<void> {
    try {
      await sleep;
      this.#end({ by: 'time' });
    } catch {
      // Something else ended the run, and the clock was told to stop.
    }
  }
}
