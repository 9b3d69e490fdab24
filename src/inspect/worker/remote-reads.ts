import { ConfigError, DataError } from '../../errors.ts';
import type { Reads } from '../reads/reads.ts';
import type { WireFound } from '../wire.ts';
import type { Question, ReadsRequest, ReadsResponse } from './reads-messages.ts';

/** The other thread: `Worker` of node. */
interface ReadsThread {
  postMessage(message: ReadsRequest): void;
  on(event: 'message', listener: (message: ReadsResponse) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'exit', listener: () => void): unknown;
  terminate(): Promise<unknown>;
}

function errorOf({ message, hint, code }: Extract<ReadsResponse, { kind: 'failure' }>): Error {
  return code === 'config' ? new ConfigError(message, { hint }) : new DataError(message, { hint });
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Asks another thread, which reads by `serveReads`. */
export function remoteReads(thread: ReadsThread): Reads {
  const pending = new Map<number, Pending>();
  let lastId = 0;
  let ended: Error | undefined;
  const end = (error: Error): void => {
    ended ??= error;
    for (const { reject } of pending.values()) reject(ended);
    pending.clear();
  };
  thread.on('message', (response) => {
    const waiting = pending.get(response.id);
    pending.delete(response.id);
    if (response.kind === 'answer') waiting?.resolve(response.value);
    else waiting?.reject(errorOf(response));
  });
  thread.on('error', end);
  thread.on('exit', () => end(new Error('the thread that reads the inbox ended')));
  const newId = (): number => (lastId += 1);
  const send = <T>(request: ReadsRequest, id: number): Promise<T> => {
    if (ended !== undefined) return Promise.reject(ended);
    return new Promise<T>((resolve, reject) => {
      pending.set(id, { resolve: resolve as (value: unknown) => void, reject });
      thread.postMessage(request);
    });
  };
  const ask =
    <Q extends Question>(question: Q) =>
    (...values: Parameters<Reads[Q]>): ReturnType<Reads[Q]> => {
      const id = newId();
      return send({ kind: 'ask', id, question, values }, id) as ReturnType<Reads[Q]>;
    };
  // One question is under way at a time for each search, so that one number is enough for all of them.
  async function* search(query: Parameters<Reads['search']>[0]): AsyncGenerator<WireFound> {
    const id = newId();
    await send({ kind: 'search', id, query }, id);
    try {
      for (;;) {
        const next = await send<IteratorResult<WireFound> | undefined>({ kind: 'next', id }, id);
        if (next === undefined || next.done === true) return;
        yield next.value;
      }
    } finally {
      if (ended === undefined) await send({ kind: 'end', id }, id);
    }
  }
  return {
    newestSeq: ask('newestSeq'),
    page: ask('page'),
    search,
    delivery: ask('delivery'),
    body: ask('body'),
    diff: ask('diff'),
    curl: ask('curl'),
    charts: ask('charts'),
    since: ask('since'),
    changes: ask('changes'),
    async close() {
      const id = newId();
      try {
        if (ended === undefined) await send({ kind: 'close', id }, id);
      } finally {
        await thread.terminate();
      }
    },
  };
}
