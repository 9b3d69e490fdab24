/** Waits until no delivery of a sandbox is open any more. */
export class OpenDeliveries {
  readonly #pending: () => number;
  #waiting: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
  /** Undefined while the sandbox runs; then whether some delivery was open at that moment. */
  #wasCut: boolean | undefined;

  constructor(pending: () => number) {
    this.#pending = pending;
  }

  settled(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#look();
    });
  }

  /** To be called at each attempt: what follows from it is known once the caller has returned. */
  check(): void {
    if (this.#waiting.length > 0) queueMicrotask(() => this.#look());
  }

  /** To be called before what is in flight is cut. */
  close(): void {
    this.#wasCut ??= this.#pending() > 0;
    this.#look();
  }

  #look(): void {
    const isSettled = this.#wasCut === undefined ? this.#pending() === 0 : !this.#wasCut;
    if (!isSettled && this.#wasCut === undefined) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { resolve, reject } of waiting) {
      if (isSettled) resolve();
      else reject(new Error('the sandbox was closed before every delivery was settled'));
    }
  }
}
