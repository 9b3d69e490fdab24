import { LeadsError, messageOf } from '../../errors.ts';
import type { Reads } from '../reads/reads.ts';
import type { Question, ReadsPort, ReadsRequest, ReadsResponse } from './reads-messages.ts';

/**
 * Answers questions that come from another thread. A search gives one line for each that is asked for, so that it stops
 * where nobody reads on; it takes its turns with other questions.
 */
export function serveReads(port: ReadsPort, opened: Promise<Reads>): void {
  // Whoever asks is told.
  opened.catch(() => undefined);
  const searches = new Map<number, AsyncIterator<unknown>>();
  const answers = {
    async ask({ question, values }: Extract<ReadsRequest, { kind: 'ask' }>) {
      const reads: Readonly<Record<Question, (...values: never[]) => Promise<unknown>>> = await opened;
      return reads[question](...(values as never[]));
    },
    async search({ id, query }: Extract<ReadsRequest, { kind: 'search' }>) {
      const reads = await opened;
      searches.set(id, reads.search(query)[Symbol.asyncIterator]());
    },
    next: async ({ id }: Extract<ReadsRequest, { kind: 'next' }>) => searches.get(id)?.next(),
    async end({ id }: Extract<ReadsRequest, { kind: 'end' }>) {
      const search = searches.get(id);
      searches.delete(id);
      await search?.return?.();
    },
    async close(_: Extract<ReadsRequest, { kind: 'close' }>) {
      const reads = await opened;
      await reads.close();
    },
  };
  const answerTo = (request: ReadsRequest): Promise<unknown> => {
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
    void answerTo(request)
      .then((value): ReadsResponse => ({ kind: 'answer', id: request.id, value }))
      .catch((error: unknown): ReadsResponse => {
        const { hint, code } = error instanceof LeadsError ? error : {};
        return { kind: 'failure', id: request.id, message: messageOf(error), hint, code };
      })
      .then((response) => port.postMessage(response));
  });
}
