import { once } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { ConfigError } from '../../src/errors.ts';
import { openInbox } from '../../src/inbox/open-inbox.ts';
import { localReads } from '../../src/inspect/reads/local-reads.ts';
import type { Reads } from '../../src/inspect/reads/reads.ts';
import { remoteReads } from '../../src/inspect/worker/remote-reads.ts';
import { serveReads } from '../../src/inspect/worker/serve-reads.ts';
import { systemClock } from '../../src/time/clock.ts';

/** Both ends in this thread; the one that reads has ended when its port is closed. */
function connected(opened: Promise<Reads>) {
  const { port1: there, port2: here } = new MessageChannel();
  serveReads(there, opened);
  const ended = once(here, 'close');
  const reads = remoteReads({
    postMessage: (message) => here.postMessage(message),
    on: (event: string, listener: (value: never) => void) =>
      here.on(event === 'exit' ? 'close' : event, (value: unknown) => listener(value as never)),
  });
  return { reads, ended };
}

it('ends the thread that reads from inside, behind what it does', async () => {
  const inbox = await openInbox({ location: ':memory:', clock: systemClock });
  let goOn = (): void => undefined;
  const isHeld = new Promise<void>((resolve) => (goOn = resolve));
  const local = localReads(inbox, () => isHeld);
  const { reads, ended } = connected(Promise.resolve(local));
  expect(await reads.newestSeq()).toBe(0);
  const closed = reads.close();
  let isClosed = false;
  void closed.then(() => (isClosed = true));
  await new Promise(setImmediate);
  expect(isClosed).toBe(false);
  goOn();
  await Promise.all([closed, ended]);
  await expect(reads.newestSeq()).rejects.toThrow(/ended/);
  await inbox.close();
});

it('passes on what kind of failure it is, and ends all the same', async () => {
  const { reads, ended } = connected(Promise.reject(new ConfigError('no inbox', { hint: 'make one' })));
  const failure = await reads.newestSeq().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ConfigError);
  expect(failure).toMatchObject({ message: 'no inbox', hint: 'make one' });
  await expect(reads.close()).rejects.toThrow('no inbox');
  await ended;
});
