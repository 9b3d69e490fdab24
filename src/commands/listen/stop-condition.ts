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
  #resolve: (cause: StopCause) => void = () => undefined;

  constructor(
    { count, for: forMs }: Pick<ListenOptions, 'count' | 'for'>,
    { drainDelayMs }: Pick<Settings, 'drainDelayMs'>,
    { clock, signal }: Pick<Context, 'clock' | 'signal'>,
  ) {
    // Every delivery that --simulate holds back listens for it; node would warn of the eleventh.
    setMaxListeners(0, this.#controller.signal);
    this.#count = count;
    this.reached = new Promise((resolve) => (this.#resolve = resolve));
    const stopAfter = async (ms: number, by: 'time' | 'signal'): Promise<void> => {
      if (!(await slept(clock, ms, this.signal))) return;
      // The time may be over in the delay after a signal, which came first.
      this.stop({ by: this.stopping.aborted ? 'signal' : by });
    };
    onAbort(signal, () => {
      this.#stopping.abort();
      if (drainDelayMs === 0) this.stop({ by: 'signal' });
      else void stopAfter(drainDelayMs, 'signal');
    });
    if (forMs !== undefined) void stopAfter(forMs, 'time');
  }

  /** Only the first call gives the cause. */
  stop(cause: StopCause): void {
    this.#stopping.abort();
    this.#controller.abort();
    this.#resolve(cause);
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
      () => this.stop({ by: 'count' }),
      (error: unknown) => this.stop({ by: 'failure', error: error as Error }),
    );
  }

  missed(cause: StopCause): string | undefined {
    if (this.#count === undefined || cause.by === 'count') return undefined;
    const goal = counted(this.#count, 'new lead was wanted', 'new leads were wanted');
    return this.#accepted < this.#count
      ? `${goal}, ${this.#accepted === 0 ? 'none' : this.#accepted} came`
      : `${goal} and came, but a target has not had ${this.#count === 1 ? 'it' : 'all of them'}`;
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

/** Resolves when none of the leads waits for a target, and when `signal` aborts. */
export async function everyTargetHad(
  leadIds: readonly string[],
  inbox: Pick<Inbox, 'forwards'>,
  clock: Pick<Clock, 'sleep'>,
  signal: AbortSignal,
): Promise<void> {
  const isAnyWaiting = async (): Promise<boolean> => {
    const forwards = await inbox.forwards(leadIds);
    return [...forwards.values()].flat().some(({ state }) => state === 'waiting');
  };
  while (await isAnyWaiting()) if (!(await slept(clock, lookEveryMs, signal))) return;
}
