import { messageOf } from '../../errors.ts';
import type { Context } from '../../context.ts';
import type { Inbox } from '../../inbox/inbox.ts';

/** Between two checks for old deliveries, at most, in milliseconds. */
const longestPauseMs = 3_600_000;

/** Between two checks, at least, in milliseconds. */
const shortestPauseMs = 60_000;

/** `--retain`: drops deliveries that are older than that, now and from time to time, until `signal` aborts. */
export async function dropOldDeliveries(
  inbox: Pick<Inbox, 'prune'>,
  retainMs: number,
  { clock, messages }: Pick<Context, 'clock' | 'messages'>,
  signal: AbortSignal,
): Promise<void> {
  const pauseMs = Math.min(longestPauseMs, Math.max(shortestPauseMs, retainMs / 10));
  while (!signal.aborted) {
    try {
      await inbox.prune(clock.now() - retainMs);
    } catch (error) {
      messages.note('retain', `old deliveries were not dropped: ${messageOf(error)}`);
    }
    try {
      await clock.sleep(pauseMs, signal);
    } catch {
      return;
    }
  }
}
