import { noteText, type Problem } from '../../errors.ts';
import type { Context } from '../../context.ts';
import type { InboxLocation } from '../../inbox/open-inbox.ts';
import { DatabaseUnavailableError } from '../../inbox/postgres/database-errors.ts';

/** The pause between two tries doubles up to the longest, so that a receiver is ready within seconds of its database. */
const firstPauseMs = 250;
const longestPauseMs = 2000;

type Warn = (warning: Problem) => void;

/**
 * The work of a command while it waits for its database. `message` completes the message that it waits; `begin` starts the work,
 * which may ask why the database is not there, and resolves to the function that ends it.
 */
interface Meanwhile {
  readonly message: string;
  readonly begin: (whyNot: () => Promise<string>) => Promise<() => Promise<void>>;
}

/**
 * Opens an inbox whose database may be started later, and waits for it unless its URL says `wait=0`. Until the inbox is open, a
 * warning is printed once, however often opening is tried. Throws a failure that waiting cannot mend, and the signal's reason.
 */
export async function openOnceThere<T extends { close(): Promise<void> }>(
  location: InboxLocation,
  open: (warn: Warn) => Promise<T>,
  { clock, messages, signal }: Pick<Context, 'clock' | 'messages' | 'signal'>,
  meanwhile?: Meanwhile,
): Promise<T> {
  const warn: Warn = (warning) => messages.warn(noteText(warning));
  if (typeof location === 'string' || !location.url.isWaitedFor) return open(warn);
  const printedKinds = new Set<string>();
  let isOpen = false;
  const tryOpening = (): Promise<T | DatabaseUnavailableError> =>
    open((warning) => {
      if (isOpen || !printedKinds.has(warning.kind)) warn(warning);
      printedKinds.add(warning.kind);
    }).catch(returnUnavailable);
  let result = await tryOpening();
  if (result instanceof DatabaseUnavailableError) {
    let why = result;
    messages.warn(`waits for the database${meanwhile?.message ?? ''}: ${why.message}`);
    const endMeanwhile = await meanwhile?.begin(() => Promise.resolve(why.message));
    try {
      let pauseMs = firstPauseMs;
      while (result instanceof DatabaseUnavailableError) {
        why = result;
        await clock.sleep(pauseMs, signal);
        pauseMs = Math.min(2 * pauseMs, longestPauseMs);
        result = await tryOpening();
      }
      messages.say('the database answers');
    } finally {
      await endMeanwhile?.().catch(async (error: unknown) => {
        if (!(result instanceof DatabaseUnavailableError)) await result.close();
        throw error;
      });
    }
  }
  isOpen = true;
  return result;
}

function returnUnavailable(error: unknown): DatabaseUnavailableError {
  if (error instanceof DatabaseUnavailableError) return error;
  throw error;
}
