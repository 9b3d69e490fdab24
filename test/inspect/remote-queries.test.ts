import { EventEmitter } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/errors.ts';
import { openInbox } from '../../src/inbox/open-inbox.ts';
import { queriesInThisThread } from '../../src/inspect/queries/queries-in-this-thread.ts';
import type { InboxQueries } from '../../src/inspect/queries/query-types.ts';
import {
  type QueryRequest,
  remoteQueries,
  serveQueries,
} from '../../src/inspect/queries/queries-by-messages.ts';
import type { WireFound } from '../../src/inspect/wire.ts';
import { systemClock } from '../../src/time/clock.ts';
import { arrivalOf } from '../inbox/support.ts';

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

/** Both ends of the messages, in this thread. `end`: what a thread does that breaks down. */
function connected(queries: Promise<InboxQueries>) {
  const { port1, port2 } = new MessageChannel();
  const thread = Object.assign(new EventEmitter(), {
    postMessage: (message: QueryRequest) => port2.postMessage(message),
  });
  port2.on('message', (message) => thread.emit('message', message));
  port2.on('close', () => thread.emit('exit'));
  serveQueries(port1, queries);
  open.push(() => port1.close());
  const remote = remoteQueries(thread);
  return { remote, end: () => thread.emit('exit') };
}

const overMemory = async (ids: readonly string[]): Promise<InboxQueries> => {
  const inbox = await openInbox({ location: ':memory:', clock: systemClock });
  await inbox.take(ids.map((id) => arrivalOf({ id })));
  return queriesInThisThread(inbox, () => inbox.close());
};

describe('reading in another thread', () => {
  it('gives the same answers', async () => {
    const queries = await overMemory(['a', 'b']);
    const { remote } = connected(Promise.resolve(queries));
    expect(await remote.newestSeq()).toBe(2);
    expect(await remote.page({ limit: 1 })).toEqual(await queries.page({ limit: 1 }));
    expect(await remote.delivery(1)).toEqual(await queries.delivery(1));
    expect(await remote.delivery(9)).toBeUndefined();
    expect(Buffer.from((await remote.body(1)) ?? []).toString()).toBe('{"id":"a"}');
    expect(await remote.curl(1, 'http://localhost/', undefined)).toEqual(
      await queries.curl(1, 'http://localhost/', undefined),
    );
    await remote.close();
  });

  it('searches line by line, several at a time, and stops where nobody reads on', async () => {
    const running = new Set<string>();
    let lines = 0;
    const queries: InboxQueries = {
      ...(await overMemory([])),
      async *search({ text }) {
        running.add(text);
        try {
          for (;;) {
            lines += 1;
            await new Promise(setImmediate);
            yield { type: 'searched', deliveries: lines, total: null };
          }
        } finally {
          running.delete(text);
        }
      },
    };
    const { remote } = connected(Promise.resolve(queries));
    const first = remote.search({ text: 'a' })[Symbol.asyncIterator]();
    const second = remote.search({ text: 'b' })[Symbol.asyncIterator]();
    await Promise.all([first.next(), second.next(), remote.newestSeq()]);
    expect(running).toEqual(new Set(['a', 'b']));
    const before = lines;
    await remote.newestSeq();
    expect(lines).toBe(before);
    await first.return?.();
    expect(running).toEqual(new Set(['b']));
    await second.return?.();
    expect(running.size).toBe(0);
    const found: WireFound[] = [];
    const other = connected(overMemory(['a', 'b'])).remote;
    for await (const line of other.search({ text: 'b' })) found.push(line);
    expect(found.map(({ type }) => type)).toEqual(['found', 'end']);
  });

  it('fails with what went wrong there, and when the thread ended', async () => {
    const failing = connected(Promise.reject(new ConfigError('it is damaged', { hint: 'recover it' })));
    const failed = failing.remote.newestSeq();
    await expect(failed).rejects.toBeInstanceOf(ConfigError);
    await expect(failed).rejects.toMatchObject({
      message: 'it is damaged',
      hint: 'recover it',
    });
    const never = connected(new Promise<InboxQueries>(() => undefined));
    const asked = never.remote.newestSeq();
    never.end();
    await expect(asked).rejects.toThrow(/ended/);
    await expect(never.remote.page({ limit: 1 })).rejects.toThrow(/ended/);
    await never.remote.close();
  });

  it('ends the thread from inside, behind what it does', async () => {
    let goOn = (): void => undefined;
    const isHeld = new Promise<void>((resolve) => (goOn = resolve));
    const { remote } = connected(Promise.resolve({ ...(await overMemory([])), close: () => isHeld }));
    const closed = remote.close();
    let isClosed = false;
    void closed.then(() => (isClosed = true));
    await remote.newestSeq();
    expect(isClosed).toBe(false);
    goOn();
    await closed;
    await expect(remote.newestSeq()).rejects.toThrow(/ended/);
    const failing = connected(Promise.reject(new ConfigError('it is damaged')));
    await expect(failing.remote.close()).rejects.toThrow('it is damaged');
  });
});
