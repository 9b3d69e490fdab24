import { InFlightCount } from '../../receiver/in-flight-count.ts';
import { callTarget } from '../../receiver/targets/call.ts';
import { LazyLead } from '../lead/lazy-lead.ts';
import type { CheckedOptions } from './checked-options.ts';
import { handOverOutstanding } from './hand-over-outstanding.ts';
import { type OpenReceiver, openReceiver } from './open-receiver.ts';

/**
 * A receiver from its start to its end: opens the inbox, and hands over what is outstanding, now and from time to time. An
 * inbox that cannot be opened is tried again at the next delivery and the next round.
 */
export class ReceiverLife {
  readonly #options: CheckedOptions;
  readonly #target;
  readonly #stop = new AbortController();
  readonly #inFlight = new InFlightCount();
  readonly #rounds: Promise<void>;
  #opened: Promise<OpenReceiver> | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: CheckedOptions) {
    const { name, onLead, onLeadTimeoutMs: timeoutMs, concurrency, clock, onError } = options;
    this.#options = options;
    this.#target = callTarget({
      name,
      call: async ({ leadId, bytes, attempt }, signal) => {
        await onLead(new LazyLead(leadId, bytes), { attempt, signal });
      },
      timeoutMs,
      concurrency,
      clock,
      onError: (error, leadId) => onError(error, { leadId }),
    });
    this.#rounds = this.#runRounds();
  }

  get isClosing(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Rejects with what opening the inbox failed with. */
  opened(): Promise<OpenReceiver> {
    this.#opened ??= openReceiver(this.#options, this.#target).catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  /** Work that `close` waits for. */
  async counted<T>(work: () => Promise<T>): Promise<T> {
    this.#inFlight.start();
    try {
      return await work();
    } finally {
      this.#inFlight.end();
    }
  }

  close(): Promise<void> {
    this.#stop.abort();
    this.#closed ??= this.#drain();
    return this.#closed;
  }

  async #drain(): Promise<void> {
    await Promise.all([this.#rounds, this.#inFlight.idle()]);
    if (this.#opened === undefined) return;
    const opened = await this.#opened;
    await opened.receiver.idle();
    await opened.close();
  }

  async #runRounds(): Promise<void> {
    const { clock, background, retryEveryMs, onError } = this.#options;
    const { signal } = this.#stop;
    // At the start nobody else has tried for a while; later, what came a moment ago is left to the sender's retries.
    for (let sinceTried = 0; !signal.aborted; sinceTried = retryEveryMs / 2) {
      try {
        const opened = await this.opened();
        const triedBefore = clock.now() - sinceTried;
        await handOverOutstanding(opened, { ...this.#options, target: this.#target, triedBefore, signal });
      } catch (error) {
        onError(error, {});
      }
      try {
        await background.sleep(retryEveryMs, signal);
      } catch {
        // Closing ends the sleep.
        return;
      }
    }
  }
}
