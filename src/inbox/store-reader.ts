import type { Inbox, InboxReader } from './inbox.ts';

type ReadMethod = Exclude<keyof InboxReader, 'location'>;

type Query<F> = F extends (...asked: infer A) => Promise<infer T>
  ? (...asked: A) => T | Promise<T>
  : F extends (...asked: infer A) => AsyncIterable<infer T>
    ? (...asked: A) => Iterable<T> | AsyncIterable<T>
    : F;

/** What a store asks its database. Each may throw what the database throws. */
export type StoreQueries = { readonly [K in ReadMethod]: Query<Inbox[K]> };

/** The half of an inbox that only reads. */
export type StoreReader = Pick<Inbox, ReadMethod | 'location'>;

/** Reads by these queries; what they throw leaves it as `readError` says it. */
export function storeReader(
  location: string,
  queries: StoreQueries,
  readError: (cause: unknown) => unknown,
): StoreReader {
  const answered =
    <A extends unknown[], T>(query: (...asked: A) => T | Promise<T>) =>
    async (...asked: A): Promise<T> => {
      try {
        return await query(...asked);
      } catch (cause) {
        throw readError(cause);
      }
    };
  const listed = <A extends unknown[], T>(query: (...asked: A) => Iterable<T> | AsyncIterable<T>) =>
    async function* (...asked: A): AsyncGenerator<T> {
      try {
        yield* query(...asked);
      } catch (cause) {
        throw readError(cause);
      }
    };
  return {
    location,
    has: answered(queries.has),
    list: listed(queries.list),
    receipts: listed(queries.receipts),
    leads: listed(queries.leads),
    seqsSince: listed(queries.seqsSince),
    backfilledSeqs: listed(queries.backfilledSeqs),
    prunedSince: listed(queries.prunedSince),
    changeMark: answered(queries.changeMark),
    checkReadable: answered(queries.checkReadable),
    counts: listed(queries.counts),
    lookUp: answered(queries.lookUp),
    leadsBySeq: answered(queries.leadsBySeq),
    targetCounts: answered(queries.targetCounts),
    forwards: answered(queries.forwards),
    droppedRepeats: answered(queries.droppedRepeats),
    close: answered(queries.close),
  };
}
