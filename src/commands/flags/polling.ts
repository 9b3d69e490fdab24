import { DataError, InterruptedError, ServiceError } from '../../errors.ts';
import type { Messages } from '../../output/messages.ts';
import { longestHoldMs, type Service } from '../../service/client/service.ts';
import { IncompleteError } from '../../service/listing-types.ts';
import type { Unproven } from '../../service/pagers/pager.ts';
import { ComeBackError } from '../../service/client/retry.ts';
import { formatDuration, formatSeconds } from '../../time/time-text.ts';

/** Ctrl-C is the ordinary end of a run that has no other one. */
export const isCtrlC = ({ aborted, reason }: AbortSignal): boolean =>
  aborted && reason instanceof InterruptedError && reason.signal === 'SIGINT';

/**
 * Makes a note of an unproven end where it is accepted; undefined: such an end is an `IncompleteError`. An accepted walk
 * counts as complete, so a bookmark moves.
 */
export function unprovenHandler(
  isAccepted: boolean,
  messages: Pick<Messages, 'note'>,
  movesBookmark = false,
): ((end: Unproven) => void) | undefined {
  if (!isAccepted) return undefined;
  const doubt = movesBookmark ? 'the bookmark moves past leads that may be missing' : 'leads may be missing';
  return ({ reason }) => {
    messages.note('incomplete', `${doubt}: ${reason.message}`);
  };
}

/** The messages of runs that warned of an incomplete poll. */
const warned = new WeakSet<object>();

/**
 * Returns false for a later poll that proves nothing: the next poll reaches as far back. The first of them in a run is a
 * warning, also under `--quiet`. Throws every other failure.
 */
export async function isCompleteWalk(
  poll: () => Promise<void>,
  { messages }: { readonly messages: Pick<Messages, 'warn'> },
): Promise<boolean> {
  try {
    await poll();
    return true;
  } catch (error) {
    if (!(error instanceof IncompleteError)) throw error;
    if (!warned.has(messages)) messages.warn(`${error.message}; trying again`);
    warned.add(messages);
    return false;
  }
}

/** In milliseconds, as the service asked: no request leaves earlier anyway. */
const askedMs = (error: Healing): number =>
  error instanceof ComeBackError ? Math.min(error.waitMs, longestHoldMs) : 0;

type Healing = ServiceError | DataError;

const heals = (error: unknown, hasWorked: boolean): error is Healing =>
  error instanceof ServiceError || (hasWorked && error instanceof DataError);

interface Polling {
  /** Between two polls, in milliseconds. */
  readonly every: number;
  /** After a good answer, a malformed one may heal as well. */
  readonly hasWorked: boolean;
}

/**
 * Repeats a step of a run that polls until the service answers, and reports the begin and the end of an outage. Throws a
 * failure that waiting does not mend: a rejected key, wrong usage, output that cannot be written, an interruption.
 */
export async function outliveOutages<T>(
  step: () => Promise<T>,
  { every, hasWorked }: Polling,
  { clock, signal, messages }: Pick<Service, 'clock' | 'signal' | 'messages'>,
): Promise<T> {
  let awaySince: number | undefined;
  for (;;) {
    try {
      const result = await step();
      if (awaySince !== undefined) {
        messages.say(`the service answers again, after ${formatDuration(clock.steady() - awaySince)}`);
      }
      return result;
    } catch (error) {
      if (!heals(error, hasWorked) || signal.aborted) throw error;
      const why = error.message;
      const ms = Math.max(every, askedMs(error));
      const when = ms > every ? `in ${formatDuration(ms)}` : `every ${formatSeconds(every)}`;
      if (awaySince === undefined || ms > every) messages.say(`${why}; trying again ${when}`);
      awaySince ??= clock.steady();
      await messages.showWait({ ms, why, isExpected: true }, () => clock.sleep(ms, signal));
    }
  }
}
