import { DataError, ServiceError } from '../../errors.ts';
import { openBrace, openBracket, skipSpace } from '../../json/bytes.ts';
import type { Envelope } from '../../json/envelope.ts';
import { PageScan } from '../../json/page-scan.ts';
import type { ScannedRecord } from '../../json/scanned-record.ts';
import type { RequestParams } from '../pagination/request-params.ts';
import { networkFailure } from '../client/failure.ts';
import type { ListingStats } from './listing.ts';
import { type Answer, request } from '../client/request.ts';
import { Attempts, TransientError } from '../client/retry.ts';
import type { Service } from '../client/service.ts';

/** What a page tells beside its leads, known when it is complete. */
export interface PageFacts {
  readonly url: URL;
  readonly link: string | undefined;
  readonly envelope: Envelope;
  /** Records on the page. */
  readonly count: number;
  readonly lastId: string | undefined;
}

export interface PagePart {
  readonly leads: readonly ScannedRecord[];
  /** An earlier attempt broke off after it had handed out leads: some of these may have come before. */
  readonly again: boolean;
  /** Set on the last part. */
  readonly facts: PageFacts | undefined;
}

/** A page is handed out whole up to this size, in bytes, so that an attempt that breaks off leaves no trace. */
const partSize = 2 * 1024 * 1024;

/** Bytes a second; slower than that, an answer does not outlive the deadline. */
const slowest = 1024;

/**
 * One page with all its retries. Only a page beyond 2 MiB comes in several parts. Throws like `request`, and a
 * `ServiceError` when every attempt failed.
 */
export async function* fetchPage(
  service: Service,
  asking: RequestParams,
  url: URL,
  stats: ListingStats,
  signal: AbortSignal,
): AsyncGenerator<PagePart, void, undefined> {
  const attempts = new Attempts(service, () => (stats.retries += 1));
  let handedOut = 0;
  for (;;) {
    try {
      stats.requests += 1;
      const answer = await request(service, url, signal);
      const again = handedOut > 0;
      let count = 0;
      for await (const part of partsOf(answer, asking, attempts)) {
        const known = Math.max(0, handedOut - count);
        count += part.leads.length;
        handedOut = Math.max(handedOut, count);
        // What has no id cannot be recognised: its place on the page has to do.
        const leads = again
          ? part.leads.filter((lead, i) => i >= known || lead.id !== undefined)
          : part.leads;
        yield { leads, again, facts: part.facts };
      }
      return;
    } catch (error) {
      signal.throwIfAborted();
      const failure = networkFailure(error, url.origin);
      if (!(failure instanceof TransientError)) throw failure;
      await attempts.next(failure, signal);
    }
  }
}

async function* partsOf(
  answer: Answer,
  asking: RequestParams,
  attempts: Attempts,
): AsyncGenerator<Omit<PagePart, 'again'>, void, undefined> {
  const scan = new PageScan(asking.items);
  const begun = attempts.left;
  let leads: ScannedRecord[] = [];
  let size = 0;
  let read = 0;
  let count = 0;
  let last: ScannedRecord | undefined;
  for await (const chunk of answer.body) {
    if (read === 0) refuseOtherThanJson(answer, chunk);
    read += chunk.length;
    size += chunk.length;
    scan.push(chunk, leads);
    if (attempts.left < 0 && read < ((begun - attempts.left) / 1000) * slowest) {
      throw new TransientError(new ServiceError('the answer comes too slowly'));
    }
    if (size <= partSize || leads.length === 0) continue;
    last = leads.at(-1);
    count += leads.length;
    yield { leads, facts: undefined };
    leads = [];
    size = 0;
  }
  if (read === 0 && answer.headers['content-length'] === '0') throw new DataError('the answer is empty');
  const envelope = scan.end(leads);
  // Also how a body that is only ended by closing the connection shows that it was cut.
  if (envelope === undefined) {
    throw new TransientError(new ServiceError('the answer was cut off', { requestId: answer.requestId }));
  }
  count += leads.length;
  yield {
    leads,
    facts: {
      url: answer.url,
      link: answer.headers['link'],
      envelope,
      count,
      lastId: (leads.at(-1) ?? last)?.id,
    },
  };
}

/** A page for people, such as a login form, is named for what it is. */
function refuseOtherThanJson({ headers, requestId }: Answer, chunk: Uint8Array): void {
  const type = headers['content-type']?.split(';')[0]?.trim() ?? '';
  const first = chunk[skipSpace(chunk, 0, chunk.length)];
  if (type === '' || /json/i.test(type) || first === openBrace || first === openBracket) return;
  throw new DataError(`the service answered with ${type}, not with JSON`, {
    requestId,
    hint: "the base URL or the path may be another one: 'leads config get base-url', 'leads config get api.path'",
  });
}
