/** At most so many pieces of work at the same time; more of them wait in a queue, for a limited time. */
export class ConcurrencyLimit {
  readonly #queue: (() => void)[] = [];
  #free: number;

  constructor(most: number) {
    this.#free = most;
  }

  /** False when no place was free in time, or `signal` aborted first. Each success needs a `release`. */
  async acquire(timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    if (this.#free === 0) return this.#wait(timeoutMs, signal);
    this.#free -= 1;
    return true;
  }

  /** The place goes straight to the next in the queue, so that a newcomer cannot take it in between. */
  release(): void {
    const next = this.#queue.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }

  #wait(timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const onTurn = (): void => leave(true);
      const onEnd = (): void => leave(false);
      const leave = (inTime: boolean): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onEnd);
        const position = this.#queue.indexOf(onTurn);
        if (position >= 0) this.#queue.splice(position, 1);
        resolve(inTime);
      };
      const timer = setTimeout(onEnd, timeoutMs);
      signal?.addEventListener('abort', onEnd);
      this.#queue.push(onTurn);
    });
  }
}
