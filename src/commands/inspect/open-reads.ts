import type { Clock } from '../../time/clock.ts';
import { type InboxLocation, openInboxReader } from '../../inbox/open-inbox.ts';
import { localReads } from '../../inspect/reads/local-reads.ts';
import type { Reads } from '../../inspect/reads/reads.ts';

/**
 * Reads a file in a thread of its own. A database is on another machine or another process, and waiting for it stops
 * nothing. The executable file reads in this thread: it would load its database's code a second time, and two copies of
 * SQLite in one process break each other's locks.
 */
export async function openReads(location: InboxLocation, clock: Clock): Promise<Reads> {
  if (typeof location !== 'string' || LEADS_SINGLE_FILE) {
    const inbox = await openInboxReader({ location, clock });
    return localReads(inbox, () => inbox.close());
  }
  const { startReadsThread } = await import('../../inspect/worker/reads-thread.ts');
  const reads = startReadsThread(location);
  try {
    // Fails now where the inbox cannot be opened.
    await reads.newestSeq();
    return reads;
  } catch (error) {
    await reads.close();
    throw error;
  }
}
