import { DataError, LeadsError } from '../../errors.ts';
import { errorAnswer } from './failures.ts';
import { exchange, type Call, type Response } from './send-request.ts';
import { Attempts, networkFailure, TransientError } from './retry.ts';
import { answerError, type ServiceProblem } from '../problems.ts';
import type { Service } from './service.ts';

/** An answer as it came, of any status. */
export interface RawAnswer extends Omit<Response, 'discard' | 'body'> {
  readonly body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Why this answer is not a success: its body is the service's, and this ends the run. */
  readonly failure: LeadsError | undefined;
}

/** A body that is not longer is read whole before it is handed out, so that an attempt that breaks off leaves no trace; in bytes. */
const longestHeld = 2 * 1024 * 1024;

/** A page that is longer is not read, since it would be held whole: a small answer may unfold to any size. In bytes. */
const longestPage = 256 * 1024 * 1024;

/**
 * One call with all its retries, which only GET and HEAD have. `isHeld` reads every body whole before it is handed out;
 * without it, one whose length is not known streams. Throws a `ServiceError` where no answer came, or no whole one.
 */
export async function rawCall(
  service: Service,
  call: Call,
  signal: AbortSignal,
  isHeld = false,
): Promise<RawAnswer> {
  const attempts = new Attempts(service, () => undefined);
  const mayRepeat = call.method === 'GET' || call.method === 'HEAD';
  for (;;) {
    try {
      const response = await exchange(service, call, signal);
      const body = keptBody(response.body, isHeld ? longestPage : Infinity);
      if (response.status < 300) return await succeeded(response, body, isHeld, signal);
      const reason = await failureOf(service, response, body.beginning());
      const failure =
        reason instanceof TransientError
          ? mayRepeat
            ? await lastFailure(attempts, reason, signal)
            : reason.failure
          : reason;
      if (failure !== undefined) {
        // A service that refuses a request may quote the key.
        return { ...response, body: response.redactBody(unbroken(body.all(), response, signal)), failure };
      }
      await body.end();
    } catch (error) {
      const failure = networkError(error, call.url.origin, signal);
      if (!(failure instanceof TransientError)) throw failure;
      if (!mayRepeat) throw failure.failure;
      await attempts.next(failure, signal);
    }
  }
}

async function succeeded(
  response: Response,
  body: KeptBody,
  isHeld: boolean,
  signal: AbortSignal,
): Promise<RawAnswer> {
  const length = Number(response.headers['content-length'] ?? Number.NaN);
  if (isHeld || length <= longestHeld) {
    // The length is that of the bytes that are sent, which may unfold to more.
    let held = 0;
    for await (const chunk of body.beginning()) {
      held += chunk.length;
      if (!isHeld && held > longestHeld) break;
    }
  }
  return { ...response, body: unbroken(body.all(), response, signal), failure: undefined };
}

/** The same bytes; where they break off, the error says so. */
async function* unbroken(
  body: AsyncIterable<Uint8Array>,
  { url }: Pick<Response, 'url'>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* body;
  } catch (error) {
    const failure = networkError(error, url.origin, signal);
    throw failure instanceof TransientError ? failure.failure : failure;
  }
}

function networkError(error: unknown, origin: string, signal: AbortSignal): Error {
  signal.throwIfAborted();
  return networkFailure(error, origin);
}

/** A redirect is not followed: nobody asked for a request to another place, and the key is for one origin. */
async function failureOf(
  service: Service,
  response: Response,
  beginning: AsyncIterable<Uint8Array>,
): Promise<LeadsError | TransientError> {
  const { status, headers, redact } = response;
  const location = headers['location'];
  if (status < 400 && location !== undefined) {
    return answerError({ kind: 'redirect-not-followed', location: redact(location), status }, { status });
  }
  const failure = await errorAnswer(service, response, beginning);
  const problem = failure instanceof DataError ? (failure.problem as ServiceProblem | undefined) : undefined;
  if (failure instanceof TransientError || problem?.kind !== 'service-answered') return failure;
  // The hint of that is about the list operation.
  return answerError({ ...problem, kind: 'call-answered' }, { status, requestId: failure.requestId });
}

/** Waits for the next attempt; gives the failure instead when there is none. */
async function lastFailure(
  attempts: Attempts,
  reason: TransientError,
  signal: AbortSignal,
): Promise<LeadsError | undefined> {
  try {
    await attempts.next(reason, signal);
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof LeadsError) return error;
    throw error;
  }
}

type KeptBody = ReturnType<typeof keptBody>;

/**
 * A body of at most so many bytes, of which the beginning is read before anybody knows who needs the whole: `beginning` reads on as far as it is
 * asked, `all` gives everything from the first byte on, and `end` leaves the rest unread. A `discard` of the answer would
 * wait for whoever reads it.
 */
function keptBody(body: AsyncIterable<Uint8Array>, most: number) {
  const chunks = body[Symbol.asyncIterator]();
  const kept: Uint8Array[] = [];
  let read = 0;
  const next = async (): Promise<Uint8Array | undefined> => {
    const chunk = await chunks.next();
    if (chunk.done === true) return undefined;
    read += chunk.value.length;
    if (read <= most) return chunk.value;
    await chunks.return?.();
    throw answerError({ kind: 'answer-too-long', mostBytes: most });
  };
  return {
    async *beginning(): AsyncGenerator<Uint8Array, void, undefined> {
      for (let chunk = await next(); chunk !== undefined; chunk = await next()) {
        kept.push(chunk);
        yield chunk;
      }
    },
    async *all(): AsyncGenerator<Uint8Array, void, undefined> {
      try {
        yield* kept.splice(0);
        for (let chunk = await next(); chunk !== undefined; chunk = await next()) yield chunk;
      } finally {
        await chunks.return?.();
      }
    },
    async end(): Promise<void> {
      await chunks.return?.();
    },
  };
}
