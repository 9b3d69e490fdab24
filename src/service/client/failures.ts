import { DataError, KeyRejectedError, type LeadsError, ServiceError } from '../../errors.ts';
import { loginCommand, type Hint } from '../../front.ts';
import type { HttpAnswer } from '../../http/client/http-client.ts';
import { utf8 } from '../../json/bytes.ts';
import type { Json } from '../../json/exact.ts';
import { type FailureKind, failureInBody, isGatewayAnswer, kindByStatus } from './failure-kind.ts';
import { parseProblem, problemText } from './problem-text.ts';
import { TransientError } from './network-failure.ts';
import { askedWaitMs } from './rate-limit.ts';
import type { Service } from './service.ts';

interface FailedResponse extends Pick<HttpAnswer, 'status' | 'headers'> {
  readonly url: URL;
  readonly redact: (text: string) => string;
}

const longestBody = 64 * 1024;

/** Makes the error for a status that is no success: a `TransientError` where a retry may help. Reads 64 KiB of `body`. */
export async function errorByStatus(
  service: Service,
  response: FailedResponse,
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  hint?: Hint,
): Promise<LeadsError | TransientError> {
  const bytes = await beginningOf(body, longestBody);
  const text = textOf(bytes, bytes.length > longestBody);
  const problem = parseProblem(text);
  const reason = problemText(problem, response.redact);
  const kind = kindByStatus(response, reason, text);
  return errorOfKind(service, response, { kind, reason, body: problem, hint });
}

function textOf(bytes: Buffer, isCut: boolean): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut });
  } catch {
    return bytes.toString('latin1');
  }
}

/** Reads until it has more than `enoughBytes`, so that the result may be longer by a chunk. */
export async function beginningOf(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  enoughBytes: number,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > enoughBytes) break;
    }
  } catch {
    // The status alone says that the request failed: a body that breaks off is used as far as it came.
  }
  return Buffer.concat(chunks);
}

/**
 * Makes the error for an answer without leads whose status is a success and whose body tells a failure; undefined where it
 * tells none. `body`: parsed, or its bytes, which may be anything. `first`: the first answer with leads.
 */
export function errorInSuccess(
  service: Service,
  response: FailedResponse,
  body: Json | Uint8Array,
  first?: Json,
): LeadsError | TransientError | undefined {
  const { redact, url } = response;
  let parsed = body as Json;
  if (body instanceof Uint8Array) {
    const text = utf8(body);
    const reason = problemText(text, redact);
    if (isGatewayAnswer(response, text))
      return errorOfKind(service, response, { kind: 'gateway', reason, body: null });
    const json = parseProblem(text);
    parsed = typeof json === 'string' ? { message: json } : json;
  }
  const failure = failureInBody(parsed, { isEmpty: true, first, requestUrl: url, redact });
  if (failure === undefined) return undefined;
  const { kind, text: reason } = failure;
  return errorOfKind(service, response, { kind, reason, body: parsed });
}

interface FailureFacts {
  readonly kind: FailureKind;
  readonly reason: string | undefined;
  readonly body: Json;
  readonly hint?: Hint | undefined;
}

function errorOfKind(
  { account: { keyIsFromCommand, profile, baseUrl }, clock }: Service,
  { status, headers, redact }: FailedResponse,
  { kind, reason, body, hint }: FailureFacts,
): LeadsError | TransientError {
  const details = { status, requestId: requestIdIn(headers, redact) };
  const suffix = reason === undefined ? '' : `: ${reason}`;
  const message = `the service answered ${status}${status < 300 ? ' with an error' : ''}${suffix}`;
  switch (kind) {
    case 'gateway':
      return new ServiceError(`something in front of the service refuses this machine (${status})${suffix}`, {
        hint: 'a gateway or a bot check answered: its operator can let the address of this machine through',
        ...details,
      });
    case 'key':
      return new KeyRejectedError(`the service refused the API key (${status})${suffix}`, {
        hint: (front) =>
          keyIsFromCommand === true
            ? `it is what api-key-command printed: ${front.get('api-key-command')}`
            : front.otherKey(loginCommand(profile, baseUrl.href)),
        ...details,
      });
    case 'rate-limit': {
      const text = `the service limits the rate (${status})${suffix}`;
      const failure = new ServiceError(text, { kind: 'rate-limited', ...details });
      return new TransientError(failure, askedWaitMs(headers, body, clock.now()));
    }
    case 'passing': {
      const failure = new ServiceError(message, { hint, ...details });
      // Some services send the headers of a rate limit with every answer: only a 503 may mean them.
      const { 'retry-after': retryAfter, date } = headers;
      const [waitHeaders, waitBody] =
        status === 503 ? [headers, body] : [{ 'retry-after': retryAfter, date }, undefined];
      return new TransientError(failure, askedWaitMs(waitHeaders, waitBody, clock.now()));
    }
    case 'other':
      return new (status >= 500 ? ServiceError : DataError)(message, { hint, ...details });
  }
}

const idHeaders = 'x-request-id request-id x-correlation-id x-amzn-requestid x-trace-id cf-ray'.split(' ');

export function requestIdIn(
  headers: FailedResponse['headers'],
  redact: FailedResponse['redact'],
): string | undefined {
  const id = idHeaders.map((name) => headers[name]).find((value) => value !== undefined);
  return id === undefined ? undefined : redact(id);
}
