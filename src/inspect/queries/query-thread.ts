import { platform, setPriority } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { openInboxReader } from '../../inbox/open-inbox.ts';
import { systemClock } from '../../time/clock.ts';
import type { InboxQueries } from './query-types.ts';
import { queriesInThisThread } from './queries-in-this-thread.ts';
import { remoteQueries, serveQueries } from './queries-by-messages.ts';

/** Tells this thread from any other that loads this file. */
const role = 'leads inspect queries';

/** What lives for a moment only, such as rows on their way: more would be memory that nobody needs, in MiB. */
const youngMb = 6;

/** On a busy machine a receiver gets nearly all of the processor, and the page what is left. */
const niceness = 15;

interface ThreadData {
  readonly role: typeof role;
  /** Path of an inbox. */
  readonly location: string;
}

/**
 * Reads the inbox of a file in a thread of its own: the database answers at once or not at all, and a receiver in this
 * thread must not wait for a search.
 */
export function startQueryThread(location: string): InboxQueries {
  const data: ThreadData = { role, location };
  // This very file, as the bundler made it: what it imports is there as well.
  const worker = new Worker(new URL(import.meta.url), {
    workerData: data,
    env: {},
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: youngMb },
  });
  return remoteQueries(worker);
}

function isThreadData(value: unknown): value is ThreadData {
  return typeof value === 'object' && value !== null && 'role' in value && value.role === role;
}

function beNice(): void {
  // Elsewhere it is the priority of the whole process (setpriority(2), "C library/kernel differences").
  if (platform() !== 'linux') return;
  try {
    setPriority(niceness);
  } catch {
    // A sandbox may refuse the call (seccomp). It is a courtesy: the page works without.
  }
}

if (!isMainThread && parentPort !== null && isThreadData(workerData)) {
  const { location } = workerData;
  beNice();
  const opened = openInboxReader({ location, clock: systemClock });
  serveQueries(
    parentPort,
    opened.then((inbox) => queriesInThisThread(inbox, () => inbox.close())),
  );
}
