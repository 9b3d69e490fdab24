import { setMaxListeners } from 'node:events';
import type { Context, Outcome } from '../../context.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import { type Clock, slept } from '../../time/clock.ts';
import type { Settings } from '../../config/load-settings.ts';
import { isCtrlC } from '../flags/polling.ts';
import type { ListenOptions } from './options.ts';

export function onAbort(signal: AbortSignal, call: () => void): void {
  if (signal.aborted) call();
  else signal.addEventListener('abort', call, { once: true });
}

/** The cause that stopped a run. `count`: so many new leads came, and no target waits for them. */
export type StopCause =
  | { readonly by: 'count' | 'time' | 'signal' }
  /** The reader of stdout went away, or the disk is full: nothing more can be shown. */
  | { readonly by: 'failure'; readonly error: Error };

/** Whichever comes first: enough new leads, the end of the time, a signal to the process, a failure. */
export class StopCondition {
  readonly reached: Promise<StopCause>;
  readonly #controller = new AbortController();
  readonly #stopping = new AbortController();
  readonly #count: number | undefined;
  readonly #leadIds: string[] = [];
  #accepted = 0;
  #stop: (cause: StopCause) => void = () => undefined;

  /** `drainDelayMs`: how long the run goes on after a signal. */
  constructor(
    { count, for: forMs }: Pick<ListenOptions, 'count' | 'for'>,
    { drainDelayMs }: Pick<Settings, 'drainDelayMs'>,
    { clock, signal }: Pick<Context, 'clock' | 'signal'>,
  ) {
    // Every delivery that --simulate holds back listens for it; node would warn of the eleventh.
    setMaxListeners(0, this.#controller.signal);
    this.#count = count;
    this.reached = new Promise((resolve) => {
      this.#stop = (cause) => {
        signal.removeEventListener('abort', interrupted);
        this.#stopping.abort();
        this.#controller.abort();
        resolve(cause);
      };
    });
    const interrupted = (): void => {
      this.#stopping.abort();
      if (drainDelayMs === 0) this.#stop({ by: 'signal' });
      else void this.#stopAfter(clock.sleep(drainDelayMs, this.#controller.signal), 'signal');
    };
    onAbort(signal, interrupted);
    if (forMs !== undefined) void this.#stopAfter(clock.sleep(forMs, this.#controller.signal), 'time');
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Aborted as soon as the run is to stop: at a signal, before the delay behind it. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** A new lead was accepted. `untilForwarded` resolves when no target is to be tried for the leads any more. */
  countAccepted(leadId: string, untilForwarded: (leadIds: readonly string[]) => Promise<void>): void {
    this.#accepted += 1;
    if (this.#count === undefined || this.#accepted > this.#count) return;
    this.#leadIds.push(leadId);
    if (this.#accepted < this.#count) return;
    untilForwarded(this.#leadIds).then(
      () => this.#stop({ by: 'count' }),
      (error: unknown) => this.#stop({ by: 'failure', error: error as Error }),
    );
  }

  missed(cause: StopCause): string | undefined {
    if (this.#count === undefined || cause.by === 'count') return undefined;
    const target = this.#count === 1 ? '1 new lead was' : `${this.#count} new leads were`;
    if (this.#accepted < this.#count) {
      return `${target} wanted, ${this.#accepted === 0 ? 'none' : this.#accepted} came`;
    }
    return `${target} wanted and came, but a target has not had ${this.#count === 1 ? 'it' : 'all of them'}`;
  }

  fail(error: Error): void {
    this.#stop({ by: 'failure', error });
  }

  end(): void {
    this.#stop({ by: 'signal' });
  }

  async #stopAfter(sleep: Promise<void>, by: 'time' | 'signal'): Promise<void> {
    try {
      await sleep;
      // The time may be over in the delay behind a signal, which came first.
      this.#stop({ by: this.#stopping.signal.aborted ? 'signal' : by });
    } catch {
      // Something else stopped the run and aborted the sleep.
    }
  }
}

/**
 * How the run ended: out of time before `count` leads is a problem. Throws a failure, and the reason of `signal` where
 * the run was interrupted too early.
 */
export function outcomeOf(cause: StopCause, count: number | undefined, signal: AbortSignal): Outcome {
  if (cause.by === 'failure') throw cause.error;
  if (cause.by === 'time') return count === undefined ? 'done' : 'problems';
  // Ctrl-C is the ordinary end of a receiver, unless more leads were asked for.
  if (cause.by === 'signal' && (count !== undefined || !isCtrlC(signal))) throw signal.reason;
  return 'done';
}

const lookEveryMs = 20;

export async function everyTargetHad(
  leadIds: readonly string[],
  inbox: Pick<Inbox, 'forwards'>,
  clock: Pick<Clock, 'sleep'>,
  signal: AbortSignal,
): Promise<void> {
  for (const leadId of leadIds) {
    while (await isWaiting(leadId, inbox)) if (!(await slept(clock, lookEveryMs, signal))) return;
  }
}

const isWaiting = async (leadId: string, inbox: Pick<Inbox, 'forwards'>): Promise<boolean> =>
  (await inbox.forwards([leadId])).get(leadId)?.some(({ state }) => state === 'waiting') === true;
