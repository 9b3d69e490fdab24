import { setMaxListeners } from 'node:events';
import type { Context, Outcome } from '../../context.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import { type Clock, slept } from '../../time/clock.ts';
import type { Settings } from '../../config/load-settings.ts';
import { counted } from '../../output/terminal/progress.ts';
import { isCtrlC } from '../flags/polling.ts';
import type { ListenOptions } from './command.ts';

export function onAbort(signal: AbortSignal, call: () => void): void {
  if (signal.aborted) call();
  else signal.addEventListener('abort', call, { once: true });
}

/**
 * The cause that stopped a run. `count`: so many new leads came, and no target waits for them. `failure`: the reader of stdout
 * went away, or the disk is full, so nothing more can be shown.
 */
export type StopCause =
  { readonly by: 'count' | 'time' | 'signal' } | { readonly by: 'failure'; readonly error: Error };

/**
 * Stops a run for the cause that comes first: enough new leads (`--count`), the end of the time (`--for`), a signal to the
 * process, a failure. A signal to the process stops it in two steps, so that a load balancer has time to send deliveries
 * elsewhere: `stopping` is aborted at once, `signal` after the drain delay of the settings. Any other cause aborts both. Then
 * `reached` resolves. Of the accepted leads, the ids of the first `#count` are kept.
 */
export class StopCondition {
  readonly reached: Promise<StopCause>;
  readonly #stopping = new AbortController();
  readonly #stopped = new AbortController();
  readonly stopping = this.#stopping.signal;
  readonly signal = this.#stopped.signal;
  readonly #count: number | undefined;
  readonly #countedIds: string[] = [];
  #accepted = 0;
  #resolve: (cause: StopCause) => void = () => undefined;

  constructor(
    { count, for: forMs }: Pick<ListenOptions, 'count' | 'for'>,
    { drainDelayMs }: Pick<Settings, 'drainDelayMs'>,
    { clock, signal }: Pick<Context, 'clock' | 'signal'>,
  ) {
    // Every delivery that --simulate holds back listens for it; node would warn of the eleventh.
    setMaxListeners(0, this.signal);
    this.#count = count;
    this.reached = new Promise((resolve) => (this.#resolve = resolve));
    const stopAfter = async (ms: number, by: 'time' | 'signal'): Promise<void> => {
      if (!(await slept(clock, ms, this.signal))) return;
      // If the time of `--for` ends within the drain delay, the signal came first.
      this.stop({ by: this.stopping.aborted ? 'signal' : by });
    };
    onAbort(signal, () => {
      this.#stopping.abort();
      if (drainDelayMs === 0) this.stop({ by: 'signal' });
      else void stopAfter(drainDelayMs, 'signal');
    });
    if (forMs !== undefined) void stopAfter(forMs, 'time');
  }

  /** Stops the run. Only the first call gives the cause. */
  stop(cause: StopCause): void {
    this.#stopping.abort();
    this.#stopped.abort();
    this.#resolve(cause);
  }

  /** Counts a new lead. `untilForwarded` resolves when no target is to be tried for these leads any more. */
  countAccepted(leadId: string, untilForwarded: (leadIds: readonly string[]) => Promise<void>): void {
    this.#accepted += 1;
    if (this.#count === undefined || this.#accepted > this.#count) return;
    this.#countedIds.push(leadId);
    if (this.#accepted < this.#count) return;
    untilForwarded(this.#countedIds).then(
      () => this.stop({ by: 'count' }),
      (error: unknown) => this.stop({ by: 'failure', error: error as Error }),
    );
  }

  /** The sentence that says what `--count` lacks after a run that ended for another cause. */
  missed(cause: StopCause): string | undefined {
    if (this.#count === undefined || cause.by === 'count') return undefined;
    const goal = counted(this.#count, 'new lead was wanted', 'new leads were wanted');
    return this.#accepted < this.#count
      ? `${goal}, ${this.#accepted === 0 ? 'none' : this.#accepted} came`
      : `${goal} and came, but a target has not had ${this.#count === 1 ? 'it' : 'all of them'}`;
  }
}

/**
 * The outcome of a run that was stopped: out of time before `count` leads is a problem. Throws a failure, and the reason of
 * `signal` if the process was interrupted before its ordinary end.
 */
export function outcomeOf(cause: StopCause, count: number | undefined, signal: AbortSignal): Outcome {
  if (cause.by === 'failure') throw cause.error;
  if (cause.by === 'time') return count === undefined ? 'done' : 'problems';
  // Ctrl-C is the ordinary end of a receiver, unless more leads were asked for.
  if (cause.by === 'signal' && (count !== undefined || !isCtrlC(signal))) throw signal.reason;
  return 'done';
}

const forwardsCheckMs = 20;

/** Resolves when none of the leads waits for a target, and when `signal` aborts. */
export async function untilNoneWaits(
  leadIds: readonly string[],
  inbox: Pick<Inbox, 'forwards'>,
  clock: Pick<Clock, 'sleep'>,
  signal: AbortSignal,
): Promise<void> {
  const isAnyWaiting = async (): Promise<boolean> => {
    const forwards = await inbox.forwards(leadIds);
    return [...forwards.values()].flat().some(({ state }) => state === 'waiting');
  };
  while (await isAnyWaiting()) if (!(await slept(clock, forwardsCheckMs, signal))) return;
}
