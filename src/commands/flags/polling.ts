import { DataError, InterruptedError, ServiceError } from '../../errors.ts';
import type { Messages } from '../../output/messages.ts';
import { longestHoldMs, type Service } from '../../service/client/service.ts';
import { IncompleteError } from '../../service/listing-types.ts';
import type { Unproven } from '../../service/pagers/pager.ts';
import { ComeBackError } from '../../service/client/retry.ts';
import { formatDuration, formatSeconds } from '../../time/time-text.ts';

/** Whether a run was stopped by Ctrl-C, which is the ordinary end of one that goes on until then. */
export const isCtrlC = ({ aborted, reason }: AbortSignal): boolean =>
  aborted && reason instanceof InterruptedError && reason.signal === 'SIGINT';

/**
 * What to do with the end of a walk that proves nothing; undefined: it is an `IncompleteError`. What is accepted counts as
 * a complete walk, so a bookmark moves, and the note says that as well.
 */
export function unprovenHandler(
  isAccepted: boolean,
  messages: Pick<Messages, 'note'>,
  movesBookmark = false,
): ((end: Unproven) => void) | undefined {
  if (!isAccepted) return undefined;
  const what = movesBookmark ? 'the bookmark moves past leads that may be missing' : 'leads may be missing';
  return ({ reason }) => {
    messages.note('incomplete', `${what}: ${reason.message}`);
  };
}

const said = new WeakSet<object>();

/**
 * The end of a later poll. One that proves nothing is said once in a run, also under `--quiet`, and gives undefined: the
 * next poll reaches as far back again. Passes every other failure on.
 */
export async function completeWalk<T>(
  poll: () => Promise<T>,
  { messages }: { readonly messages: Pick<Messages, 'warn'> },
): Promise<{ readonly end: T } | undefined> {
  try {
    return { end: await poll() };
  } catch (error) {
    if (!(error instanceof IncompleteError)) throw error;
    if (!said.has(messages)) messages.warn(`${error.message}; trying again`);
    said.add(messages);
    return undefined;
  }
}

/** How long the service is left alone, as it asked: the requests' own gate holds as long. */
const askedMs = (error: Healing): number =>
  error instanceof ComeBackError ? Math.min(error.waitMs, longestHoldMs) : 0;

type Healing = ServiceError | DataError;

const heals = (error: unknown, hasWorked: boolean): error is Healing =>
  error instanceof ServiceError || (hasWorked && error instanceof DataError);

interface Polling {
  /** Between two attempts, in milliseconds. */
  readonly every: number;
  /** An answer that is not what it must be may heal as well, since there was a good one before. */
  readonly hasWorked: boolean;
}

/**
 * Repeats a step of a run that polls until the service is there again, and says when an outage begins and when it ends.
 * Passes on what does not heal by waiting: a rejected key, wrong usage, output that cannot be written, an interruption.
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
      const again = ms > every ? `in ${formatDuration(ms)}` : `every ${formatSeconds(every)}`;
      if (awaySince === undefined || ms > every) messages.say(`${why}; trying again ${again}`);
      awaySince ??= clock.steady();
      await messages.waiting({ ms, why, isExpected: true }, () => clock.sleep(ms, signal));
    }
  }
}
