import { ConfigError, DataError, LeadsError, messageOf } from '../../errors.ts';
import type { WireFound } from '../wire.ts';
import type { InboxQueries } from './inbox-queries.ts';

/** The other thread: `Worker` of node. */
interface QueryThread {
  postMessage(message: QueryRequest): void;
  on(event: 'message', listener: (message: QueryResponse) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'exit', listener: () => void): unknown;
}

function errorOf({ message, hint, code }: Extract<QueryResponse, { kind: 'failure' }>): Error {
  return code === 'config' ? new ConfigError(message, { hint }) : new DataError(message, { hint });
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Asks another thread, which reads by `serveReads`. */
export function remoteQueries(thread: QueryThread): InboxQueries {
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
  const exited = new Promise<void>((resolve) => {
    thread.on('exit', () => {
      end(new Error('the thread that reads the inbox ended'));
      resolve();
    });
  });
  const newId = (): number => (lastId += 1);
  const send = <T>(request: QueryRequest, id: number): Promise<T> => {
    if (ended !== undefined) return Promise.reject(ended);
    return new Promise<T>((resolve, reject) => {
      pending.set(id, { resolve: resolve as (value: unknown) => void, reject });
      thread.postMessage(request);
    });
  };
  const ask =
    <Q extends Question>(question: Q) =>
    (...values: Parameters<InboxQueries[Q]>): ReturnType<InboxQueries[Q]> => {
      const id = newId();
      return send({ kind: 'ask', id, question, values }, id) as ReturnType<InboxQueries[Q]>;
    };
  // One question is under way at a time for each search, so that one number is enough for all of them.
  async function* search(query: Parameters<InboxQueries['search']>[0]): AsyncGenerator<WireFound> {
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
        // Terminated inside of its database's code, it would end the whole process.
        await exited;
      }
    },
  };
}

/**
 * Answers questions that come from another thread. A search gives one line for each that is asked for, so that it stops
 * where nobody reads on; it takes its turns with other questions.
 */
export function serveQueries(port: QueryPort, opened: Promise<InboxQueries>): void {
  // Each question is answered with this failure, also where the first one comes behind it.
  opened.catch(() => undefined);
  const searches = new Map<number, AsyncIterator<unknown>>();
  const answers = {
    async ask({ question, values }: Extract<QueryRequest, { kind: 'ask' }>) {
      const reads: Readonly<Record<Question, (...values: never[]) => Promise<unknown>>> = await opened;
      return reads[question](...(values as never[]));
    },
    async search({ id, query }: Extract<QueryRequest, { kind: 'search' }>) {
      const reads = await opened;
      searches.set(id, reads.search(query)[Symbol.asyncIterator]());
    },
    next: async ({ id }: Extract<QueryRequest, { kind: 'next' }>) => searches.get(id)?.next(),
    async end({ id }: Extract<QueryRequest, { kind: 'end' }>) {
      const search = searches.get(id);
      searches.delete(id);
      await search?.return?.();
    },
    async close(_: Extract<QueryRequest, { kind: 'close' }>) {
      const reads = await opened;
      // What is under way fails at its next step.
      await reads.close();
    },
  };
  const answerTo = (request: QueryRequest): Promise<unknown> => {
    switch (request.kind) {
      case 'ask':
        return answers.ask(request);
      case 'search':
        return answers.search(request);
      case 'next':
        return answers.next(request);
      case 'end':
        return answers.end(request);
      case 'close':
        return answers.close(request);
    }
  };
  port.on('message', (request) => {
    const answered = answerTo(request)
      .then((value): QueryResponse => ({ kind: 'answer', id: request.id, value }))
      .catch((error: unknown): QueryResponse => {
        const { hint, code } = error instanceof LeadsError ? error : {};
        return { kind: 'failure', id: request.id, message: messageOf(error), hint, code };
      })
      .then((response) => port.postMessage(response));
    if (request.kind === 'close') void answered.finally(() => port.close());
  });
}

/** The questions that have one answer. */
type Question = Exclude<keyof InboxQueries, 'search' | 'close'>;

/** What the thread that reads is asked; `id` names the question in what it answers. */
export type QueryRequest =
  | { readonly kind: 'ask'; readonly id: number; readonly question: Question; readonly values: unknown[] }
  | { readonly kind: 'search'; readonly id: number; readonly query: Parameters<InboxQueries['search']>[0] }
  /** One more line of a search. */
  | { readonly kind: 'next'; readonly id: number }
  /** A search is not wanted any more. */
  | { readonly kind: 'end'; readonly id: number }
  | { readonly kind: 'close'; readonly id: number };

type QueryResponse =
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | {
      readonly kind: 'failure';
      readonly id: number;
      readonly message: string;
      readonly hint: string | undefined;
      /** Of an error of `errors.ts`. */
      readonly code: string | undefined;
    };

/** A thread's end of the messages. */
interface QueryPort {
  on(event: 'message', listener: (message: QueryRequest) => void): unknown;
  postMessage(message: QueryResponse): void;
  /** The thread ends when what it does is done. */
  close(): void;
}
