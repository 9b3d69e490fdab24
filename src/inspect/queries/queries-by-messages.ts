import { ConfigError, DataError, LeadsError, messageOf, type Problem } from '../../errors.ts';
import type { InboxQueries } from './query-types.ts';

/** What is answered piece by piece. */
const streams = ['search'] as const;
type Stream = (typeof streams)[number];

/** What has one answer. */
type Question = Exclude<keyof InboxQueries, Stream>;

/**
 * What the thread that reads is asked. `id` names the question in its answer, and a stream in all questions about it:
 * its name starts one, `next` asks for one more piece, and `end` says that no more is wanted.
 */
export interface QueryRequest {
  readonly id: number;
  readonly question: Question | Stream | 'next' | 'end';
  readonly values: readonly unknown[];
}

type QueryResponse =
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | {
      readonly kind: 'failure';
      readonly id: number;
      readonly found: Problem | string;
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

/** The other thread: `Worker` of node. */
interface QueryThread {
  postMessage(message: QueryRequest): void;
  on(event: 'message', listener: (message: QueryResponse) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'exit', listener: () => void): unknown;
}

interface Pending {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

/** Asks another thread, which answers by `serveQueries`. */
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
    if (response.kind === 'answer') waiting?.resolve(response.value as never);
    else waiting?.reject(errorOf(response));
  });
  thread.on('error', end);
  const exited = new Promise<void>((resolve) => {
    thread.on('exit', () => {
      end(new Error('the thread that reads the inbox ended'));
      resolve();
    });
  });
  const send = <T>(question: QueryRequest['question'], values: unknown[], id = ++lastId): Promise<T> => {
    if (ended !== undefined) return Promise.reject(ended);
    return new Promise<T>((resolve, reject) => {
      pending.set(id, { resolve, reject });
      thread.postMessage({ id, question, values });
    });
  };
  const ask =
    <Q extends Question>(question: Q) =>
    (...values: Parameters<InboxQueries[Q]>): ReturnType<InboxQueries[Q]> =>
      send(question, values) as ReturnType<InboxQueries[Q]>;
  // One question is under way at a time for each stream, so that one number is enough for all of them.
  async function* stream<Piece>(name: Stream, query: unknown): AsyncGenerator<Piece> {
    const id = ++lastId;
    await send(name, [query], id);
    try {
      for (;;) {
        const next = await send<IteratorResult<Piece> | undefined>('next', [], id);
        if (next === undefined || next.done === true) return;
        yield next.value;
      }
    } finally {
      if (ended === undefined) await send('end', [], id);
    }
  }
  return {
    newestSeq: ask('newestSeq'),
    page: ask('page'),
    search: (query) => stream('search', query),
    delivery: ask('delivery'),
    body: ask('body'),
    curl: ask('curl'),
    charts: ask('charts'),
    verdicts: ask('verdicts'),
    since: ask('since'),
    changes: ask('changes'),
    async close() {
      try {
        if (ended === undefined) await send('close', []);
      } finally {
        // Terminated inside of its database's code, it would end the whole process.
        await exited;
      }
    },
  };
}

function errorOf({ found, hint, code }: Extract<QueryResponse, { kind: 'failure' }>): Error {
  return code === 'config' ? new ConfigError(found, { hint }) : new DataError(found, { hint });
}

/**
 * Answers questions that come from another thread. A stream gives one piece for each that is asked for, so that it stops
 * where nobody reads on; it takes its turns with other questions.
 */
export function serveQueries(port: QueryPort, opened: Promise<InboxQueries>): void {
  // Each question is answered with this failure, also where the first one comes behind it.
  opened.catch(() => undefined);
  const running = new Map<number, AsyncIterator<unknown>>();
  const isStream = (question: string): boolean => streams.some((name) => name === question);
  const answerTo = async ({ id, question, values }: QueryRequest): Promise<unknown> => {
    if (question === 'next') return running.get(id)?.next();
    if (question === 'end') {
      const stream = running.get(id);
      running.delete(id);
      await stream?.return?.();
      return undefined;
    }
    // Of `close`: what is under way fails at its next step.
    const queries: Readonly<Record<Question | Stream, (...values: never[]) => unknown>> = await opened;
    const answer = queries[question](...(values as never[]));
    if (!isStream(question)) return answer;
    running.set(id, (answer as AsyncIterable<unknown>)[Symbol.asyncIterator]());
    return undefined;
  };
  port.on('message', (request) => {
    const { id } = request;
    const answered = answerTo(request)
      .then((value): QueryResponse => ({ kind: 'answer', id, value }))
      .catch((error: unknown): QueryResponse => {
        const { problem, hint, code } = error instanceof LeadsError ? error : {};
        return { kind: 'failure', id, found: problem ?? messageOf(error), hint, code };
      })
      .then((response) => port.postMessage(response));
    if (request.question === 'close') void answered.finally(() => port.close());
  });
}
