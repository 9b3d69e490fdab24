import { isUtf8 } from 'node:buffer';
import { KeyRejectedError, type LeadsError } from '../../errors.ts';
import type { HttpAnswer } from '../../http/client/http-client.ts';
import { utf8 } from '../../json/bytes.ts';
import type { Json } from '../../json/exact.ts';
import { answerError, serviceError, type ServiceProblem } from '../problems.ts';
import { failureIn } from './failure-in.ts';
import { type FailureKind, isGatewayAnswer, kindOfAnswer } from './failure-kind.ts';
import { parseProblem, problemText } from './problem-text.ts';
import { askedWaitMs } from './rate-limit.ts';
import { TransientError } from './retry.ts';
import type { Service } from './service.ts';

interface FailedAnswer extends Pick<HttpAnswer, 'status' | 'headers'> {
  /** The URL of the request. */
  readonly url?: URL;
  /** Takes secrets out of a text of the answer. */
  readonly redact: (text: string) => string;
}

/** More of the body of a failure is not read, in bytes. */
const longestBody = 64 * 1024;

/** The failure that an error status means: a `TransientError` where another try may help. Reads `body` only. */
export async function errorAnswer(
  service: Service,
  answer: FailedAnswer,
  body: AsyncIterable<Uint8Array>,
): Promise<LeadsError | TransientError> {
  const text = await beginningOf(body);
  const problem = parseProblem(text);
  const reason = problemText(problem, answer.redact);
  return failureOf(service, answer, { kind: kindOfAnswer(answer, reason, text), reason, body: problem });
}

/**
 * The failure that an answer without leads tells in its body although its status is a success; undefined where it tells
 * none. `body`: parsed, or its bytes, which may be anything.
 */
export function failureInAnswer(
  service: Service,
  answer: FailedAnswer,
  body: Json | Uint8Array,
  first?: Json,
): LeadsError | TransientError | undefined {
  if (body instanceof Uint8Array) {
    const text = utf8(body);
    if (isGatewayAnswer(answer, text))
      return failureOf(service, answer, {
        kind: 'gateway',
        reason: problemText(text, answer.redact),
        body: null,
      });
    const json = parseProblem(text);
    return failureInAnswer(service, answer, typeof json === 'string' ? { message: json } : json, first);
  }
  const failure = failureIn(body, { isEmpty: true, first, asked: answer.url, redact: answer.redact });
  return (
    failure && failureOf(service, answer, { kind: failure.kind, reason: failure.text, body, isInBody: true })
  );
}

interface FailureFacts {
  /** The status is a success. */
  readonly isInBody?: boolean;
  readonly kind: FailureKind;
  readonly reason: string | undefined;
  readonly body: Json;
}

function failureOf(
  { account, clock }: Service,
  { status, headers, redact }: FailedAnswer,
  { kind, reason, body, isInBody = false }: FailureFacts,
): LeadsError | TransientError {
  const details = { status, requestId: requestIdIn({ headers, redact }) };
  if (kind === 'gateway') return serviceError({ kind: 'gateway-refuses', status, reason }, details);
  if (kind === 'key') {
    const { profile, keyIsFromCommand = false } = account;
    return new KeyRejectedError({ kind: 'key-refused', status, reason, profile, keyIsFromCommand }, details);
  }
  const mayReset = kind === 'rate-limit' || status === 503;
  const { 'retry-after': retryAfter, date } = headers;
  const waitMs = askedWaitMs(
    mayReset ? headers : { 'retry-after': retryAfter, date },
    mayReset ? body : undefined,
    clock.now(),
  );
  if (kind === 'rate-limit')
    return new TransientError(serviceError({ kind: 'rate-limited', status, reason }, details), waitMs);
  const problem: ServiceProblem = isInBody
    ? { kind: 'error-with-status-200', reason }
    : { kind: 'service-answered', status, reason };
  if (kind === 'passing') return new TransientError(serviceError(problem, details), waitMs);
  return (status >= 500 ? serviceError : answerError)(problem, details);
}

const idHeaders = [
  'x-request-id',
  'request-id',
  'x-correlation-id',
  'x-amzn-requestid',
  'x-trace-id',
  'cf-ray',
];

/** The service's name for a request, unless it repeats the key in it. */
export function requestIdIn({
  headers,
  redact,
}: Pick<FailedAnswer, 'headers' | 'redact'>): string | undefined {
  const id = idHeaders.map((name) => headers[name]).find((value) => value !== undefined);
  return id === undefined ? undefined : redact(id);
}

/** The beginning of a body as text; a body that breaks off says no more than the status does. */
async function beginningOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > longestBody) break;
    }
    const bytes = Buffer.concat(chunks);
    return isUtf8(bytes) ? utf8(bytes) : bytes.toString('latin1');
  } catch {
    return '';
  }
}
