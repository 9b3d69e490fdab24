import type { Clock } from '../../../time/clock.ts';
import type { Database } from '../libsql.ts';
import { emptyLog, vacuum } from '../schema/shrink.ts';

/** How long to wait for others that use the inbox, in milliseconds. */
const waitMs = 10_000;

/** Between two attempts, in milliseconds. */
const pauseMs = 50;

/** How long one attempt may wait without an event loop, in milliseconds. */
const busyMs = 200;

/**
 * Writes the file anew and empties its log, so that nothing that was deleted stays in either. Others may go on writing:
 * they wait meanwhile. Returns why it could not be done; undefined when it was.
 */
export async function overwriteFile(
  database: Database,
  clock: Pick<Clock, 'steady' | 'sleep'>,
): Promise<string | undefined> {
  const deadline = clock.steady() + waitMs;
  const tried = async (step: () => boolean): Promise<boolean> => {
    while (!step()) {
      if (clock.steady() >= deadline) return false;
      await clock.sleep(pauseMs);
    }
    return true;
  };
  database.prepare(`PRAGMA busy_timeout = ${busyMs}`).all([]);
  try {
    if (!(await tried(() => vacuum(database)))) {
      return 'the file could not be written anew: another process writes to it, or the disk is full';
    }
    if (!(await tried(() => emptyLog(database)))) {
      return 'its log could not be emptied: another process reads the inbox';
    }
    return undefined;
  } finally {
    database.prepare('PRAGMA busy_timeout = 0').all([]);
  }
}
