import { noteText, type Problem } from '../../errors.ts';
import type { Context } from '../../context.ts';
import type { InboxLocation } from '../../inbox/open-inbox.ts';
import { DatabaseUnavailableError } from '../../inbox/postgres/database-errors.ts';

/** Between two tries, in milliseconds: a receiver is ready within seconds of its database. */
const firstPauseMs = 250;
const longestPauseMs = 2000;

type Warn = (warning: Problem) => void;

/** The work of a command while its database is away. */
interface Meanwhile {
  /** Completes the message that the database is waited for. */
  readonly message: string;
  readonly begin: (whyNot: () => Promise<string>) => Promise<() => Promise<void>>;
}

/**
 * Opens an inbox whose database may be started later, and waits for it unless its URL says `wait=0`. A warning is printed
 * once. Throws a failure that waiting cannot mend, and the signal's reason.
 */
export async function openOnceThere<T>(
  location: InboxLocation,
  open: (warn: Warn) => Promise<T>,
  { clock, messages, signal }: Pick<Context, 'clock' | 'messages' | 'signal'>,
  meanwhile?: Meanwhile,
): Promise<T> {
  const warn: Warn = (warning) => messages.warn(noteText(warning));
  if (typeof location === 'string' || !location.url.isWaitedFor) return open(warn);
  const printed = new Set<string>();
  let isOpen = false;
  const tryOpening = (): Promise<T | DatabaseUnavailableError> =>
    open((warning) => {
      if (isOpen || !printed.has(warning.kind)) warn(warning);
      printed.add(warning.kind);
    }).catch(unavailable);
  let result = await tryOpening();
  if (result instanceof DatabaseUnavailableError) {
    let why = result;
    messages.warn(`waits for the database${meanwhile?.message ?? ''}: ${why.message}`);
    const end = await meanwhile?.begin(() => Promise.resolve(why.message));
    try {
      for (let pauseMs = firstPauseMs; result instanceof DatabaseUnavailableError;) {
        why = result;
        await clock.sleep(pauseMs, signal);
        pauseMs = Math.min(2 * pauseMs, longestPauseMs);
        result = await tryOpening();
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
