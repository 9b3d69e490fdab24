import { DataError, InterruptedError, ServiceError } from '../../errors.ts';
import type { Messages } from '../../output/messages.ts';
import { longestHoldMs } from '../../service/client/rate-limit.ts';
import type { Service } from '../../service/client/service.ts';
import { IncompleteError } from '../../service/listing-types.ts';
import type { Unproven } from '../../service/pagers/pager.ts';
import { ComeBackError } from '../../service/client/retry.ts';
import { formatDuration, formatSeconds } from '../../time/time-text.ts';

/** Ctrl-C is the ordinary end of a run that has no other one. */
export const isCtrlC = ({ aborted, reason }: AbortSignal): boolean =>
  aborted && reason instanceof InterruptedError && reason.signal === 'SIGINT';

/**
 * The `acceptUnproven` of a listing: with `--accept-incomplete` (`isAccepted`) an unproven end is noted, and counts as complete,
 * so a bookmark moves. Undefined without it: the listing throws an `IncompleteError`.
 */
export function unprovenHandler(
  isAccepted: boolean,
  messages: Pick<Messages, 'note'>,
  movesBookmark = false,
): ((end: Unproven) => void) | undefined {
  if (!isAccepted) return undefined;
  const doubt = movesBookmark ? 'the bookmark moves past leads that may be missing' : 'leads may be missing';
  return ({ reason }) => messages.note('incomplete', `${doubt}: ${reason.message}`);
}

/** The runs, each by its `messages`, that have warned of an incomplete poll: one warning a run is enough. */
const warnedRuns = new WeakSet<object>();

/**
 * Runs a poll that is not the first walk, and returns whether the service proved its end. One that is unproven only costs a
 * warning, since the next poll reaches as far back. Throws every other failure.
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
    if (!warnedRuns.has(messages)) messages.warn(`${error.message}; trying again`);
    warnedRuns.add(messages);
    return false;
  }
}

interface Polling {
  /** Between two polls, in milliseconds. */
  readonly everyMs: number;
  /** The service has given a good answer before: a malformed one is then an outage, and no wrong address. */
  readonly hasWorked: boolean;
}

/**
 * Repeats a step of a run that polls until the service answers, and reports the begin and the end of an outage. Throws a
 * failure that waiting does not mend: a rejected key, wrong usage, output that cannot be written, an interruption.
 */
export async function outliveOutages<T>(
  step: () => Promise<T>,
  { everyMs, hasWorked }: Polling,
  { clock, signal, messages }: Pick<Service, 'clock' | 'signal' | 'messages'>,
): Promise<T> {
  let outageSince: number | undefined;
  for (;;) {
    try {
      const result = await step();
      if (outageSince !== undefined) {
        messages.say(`the service answers again, after ${formatDuration(clock.steady() - outageSince)}`);
      }
      return result;
    } catch (error) {
      if (!isOutage(error, hasWorked) || signal.aborted) throw error;
      const why = error.message;
      // The service asked for this wait (`Retry-After`); the client holds requests back as long, and no longer than its limit.
      const requestedMs = error instanceof ComeBackError ? Math.min(error.waitMs, longestHoldMs) : 0;
      const waitMs = Math.max(everyMs, requestedMs);
      const isLonger = waitMs > everyMs;
      const when = isLonger ? `in ${formatDuration(waitMs)}` : `every ${formatSeconds(everyMs)}`;
      if (outageSince === undefined || isLonger) messages.say(`${why}; trying again ${when}`);
      outageSince ??= clock.steady();
      await messages.showWait({ ms: waitMs, why, isExpected: true }, () => clock.sleep(waitMs, signal));
    }
  }
}

const isOutage = (error: unknown, hasWorked: boolean): error is ServiceError | DataError =>
  error instanceof ServiceError || (hasWorked && error instanceof DataError);
