import type { BodyWriter } from '../../http/server/request/send-answer.ts';
import { EventStreamWriter } from '../events/event-stream-writer.ts';
import type { ApiAnswer, ApiParts, ApiRequest } from './api-request.ts';
import { badRequest, problemAnswer } from './problem-answer.ts';

const type = 'application/x-ndjson; charset=utf-8';

/** In characters, of what is searched for. */
const longestText = 500;

/** Searches at one time. */
const mostSearches = 4;

/** `GET /api/events` */
export async function eventsAnswer({ reads, feed, steady }: ApiParts, { query }: ApiRequest): ApiAnswer {
  const after = query.number('after') ?? (await reads.newestSeq());
  if (!feed.reserve()) {
    const problem = 'Too many pages follow this inbox at the same time.';
    const hint = 'close some of them';
    // A client that opens a thousand streams is not to hold a thousand connections.
    return problemAnswer({ status: 429, code: 'too-many-streams', problem, hint }, { connection: 'close' });
  }
  return {
    status: 200,
    stream: {
      type,
      write: (response, signal) => feed.follow(new EventStreamWriter(response, after, steady), signal),
    },
  };
}

/** Answers `GET /api/search`, a few at one time. */
export function searchAnswers(): (parts: ApiParts, request: ApiRequest) => ApiAnswer {
  let running = 0;
  return ({ reads }, { query }) => {
    const text = query.text('q')?.trim() ?? '';
    if (text === '' || text.length > longestText) {
      const problem = `The query's q must be a text of 1 to ${longestText} characters.`;
      return Promise.resolve(problemAnswer(badRequest(problem)));
    }
    if (running >= mostSearches) {
      const problem = 'Too many searches are under way.';
      return Promise.resolve(problemAnswer({ status: 429, code: 'busy', problem }));
    }
    const found = reads.search({
      text,
      before: query.number('before'),
      verdicts: query.verdicts(),
      since: query.number('since'),
      until: query.number('until'),
    });
    const write = async (response: BodyWriter, signal: AbortSignal): Promise<void> => {
      running += 1;
      try {
        for await (const line of found) {
          if (signal.aborted) return;
          if (!response.write(`${JSON.stringify(line)}\n`)) await drained(response, signal);
        }
      } finally {
        running -= 1;
      }
    };
    return Promise.resolve({ status: 200, stream: { type, write } });
  };
}

/** Resolves when the client has read what was written, or is gone. */
function drained(response: BodyWriter, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      response.off('drain', end);
      signal.removeEventListener('abort', end);
      resolve();
    };
    response.once('drain', end);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}
