import { DataError, ServiceError } from '../../../errors.ts';
import { openBrace, openBracket, skipSpace } from '../../../json/bytes.ts';
import { PageScan } from '../../../json/page-scan.ts';
import type { ScannedRecord } from '../../../json/scanned-record.ts';
import type { Answer } from '../../client/request.ts';
import { rejectionIn, rejectionInBytes } from '../../client/rejection-in-body.ts';
import { type Attempts, TransientError } from '../../client/retry.ts';
import type { PageFacts } from '../../pagination/page-facts.ts';
import type { RequestParams } from '../../pagination/request-params.ts';
import type { PagePart } from './page-part.ts';

/** A page is handed out whole up to this size, in bytes, so that an attempt that breaks off leaves no trace. */
const partSize = 2 * 1024 * 1024;

/** An answer with an error in it is not longer, in bytes. */
const longestRejection = 64 * 1024;

/** Bytes a second; slower than that, an answer does not outlive the deadline. */
const slowest = 1024;

/** The records of one answer in parts, the last one with its facts. Throws a `TransientError` when it was cut off. */
export async function* partsOf(
  answer: Answer,
  params: RequestParams,
  attempts: Attempts,
): AsyncGenerator<Omit<PagePart, 'again'>, void, undefined> {
  const scan = new PageScan(params.items);
  const leftAtStart = attempts.left;
  let leads: ScannedRecord[] = [];
  let size = 0;
  let read = 0;
  const beginning: Uint8Array[] = [];
  let count = 0;
  let last: ScannedRecord | undefined;
  for await (const chunk of answer.body) {
    if (read === 0) refuseOtherThanJson(answer, chunk);
    read += chunk.length;
    size += chunk.length;
    if (read <= longestRejection) beginning.push(chunk);
    const scanned = leads.length;
    scan.push(chunk, leads);
    params.leads.read(leads, scanned, count);
    if (attempts.left < 0 && read < ((leftAtStart - attempts.left) / 1000) * slowest) {
      throw new TransientError(new ServiceError('the answer comes too slowly'));
    }
    if (size <= partSize || leads.length === 0) continue;
    last = leads.at(-1);
    count += leads.length;
    yield { leads, facts: undefined };
    leads = [];
    size = 0;
  }
  if (answer.status === 204) {
    yield {
      leads,
      facts: { ...about(answer), envelope: { root: null, path: [] }, count: 0, lastId: undefined },
    };
    return;
  }
  if (read === 0 && answer.headers['content-length'] === '0') throw new DataError('the answer is empty');
  const scanned = leads.length;
  const envelope = endOf(scan, leads, count === 0 && read <= longestRejection ? beginning : [], answer);
  params.leads.read(leads, scanned, count);
  if (envelope === undefined) throw cutOff(answer);
  const rejection = count + leads.length === 0 ? rejectionIn(envelope.root, answer.redact) : undefined;
  if (rejection !== undefined) throw rejection;
  count += leads.length;
  yield {
    leads,
    facts: {
      ...about(answer),
      envelope,
      count,
      lastId: (leads.at(-1) ?? last)?.id,
    },
  };
}

const about = ({ url, headers }: Answer): Pick<PageFacts, 'url' | 'headers'> => ({ url, headers });

/** A small answer without leads may be an error that came with status 200: then its own words say more. */
function endOf(
  scan: PageScan,
  leads: ScannedRecord[],
  body: readonly Uint8Array[],
  { redact }: Answer,
): ReturnType<PageScan['end']> {
  try {
    return scan.end(leads);
  } catch (error) {
    throw rejectionInBytes(Buffer.concat(body), redact) ?? error;
  }
}

/**
 * JSON that ends too early. A body that is only ended by closing the connection shows in no other way that it was cut;
 * one that came whole is the service's answer.
 */
function cutOff({ headers, requestId }: Answer): TransientError {
  const isWhole = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  return new TransientError(
    isWhole
      ? new DataError('the answer is not valid JSON: it ends too early, although it came whole', {
          requestId,
        })
      : new ServiceError('the answer was cut off', { requestId }),
  );
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
