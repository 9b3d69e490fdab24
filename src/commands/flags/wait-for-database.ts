import { noteText } from '../../describe.ts';
import { messageOf, type Problem } from '../../errors.ts';
import type { Context } from '../../context.ts';
import type { InboxLocation } from '../../inbox/open-inbox.ts';
import { DatabaseUnavailableError } from '../../inbox/postgres/database-errors.ts';

/** Between two tries, in milliseconds: a receiver is ready within seconds of its database. */
const firstPauseMs = 250;
const longestPauseMs = 2000;

type Warn = (warning: Problem) => void;

/**
 * Opens an inbox whose database may be started later, and waits for it unless its URL says `wait=0`. What is found meanwhile
 * is said once. `meanwhile`: begins what is done until then, and says so. Throws what waiting cannot mend, and the signal's reason.
 */
export async function openOnceThere<T>(
  location: InboxLocation,
  open: (warn: Warn) => Promise<T>,
  { clock, messages, signal }: Pick<Context, 'clock' | 'messages' | 'signal'>,
  meanwhile?: {
    readonly said: string;
    readonly begin: (whyNot: () => Promise<string>) => Promise<() => Promise<void>>;
  },
): Promise<T> {
  const warn: Warn = (found) => messages.warn(noteText(found));
  if (typeof location === 'string' || !location.url.isWaitedFor) return open(warn);
  const said = new Set<string>();
  let isOpen = false;
  const opened = (): Promise<T | DatabaseUnavailableError> =>
    open((found) => {
      if (isOpen || !said.has(found.kind)) warn(found);
      said.add(found.kind);
    }).catch(unavailable);
  let result = await opened();
  if (result instanceof DatabaseUnavailableError) {
    let why = result;
    messages.warn(`waits for the database${meanwhile?.said ?? ''}: ${messageOf(why)}`);
    const end = await meanwhile?.begin(() => Promise.resolve(messageOf(why)));
    try {
      for (let pauseMs = firstPauseMs; result instanceof DatabaseUnavailableError;) {
        why = result;
        await clock.sleep(pauseMs, signal);
        pauseMs = Math.min(2 * pauseMs, longestPauseMs);
        result = await opened();
      }
      messages.say('the database answers');
    } finally {
      await end?.();
    }
  }
  isOpen = true;
  return result;
}

function unavailable(error: unknown): DatabaseUnavailableError {
  if (error instanceof DatabaseUnavailableError) return error;
  throw error;
}
