import { answerError } from '../problems.ts';
import { errorAnswer, requestIdIn } from './read-error-answer.ts';
import { exchange, type Response } from './send-request.ts';
import type { Service } from './service.ts';

/** An answer whose body is still to come. */
export interface Answer {
  readonly url: URL;
  /** 200, 206 for a range of the list, or 204 for an empty page. */
  readonly status: number;
  readonly headers: Response['headers'];
  readonly requestId: string | undefined;
  readonly body: AsyncIterable<Uint8Array>;
  /** Takes the API key out of a text of the answer. */
  readonly redact: (text: string) => string;
}

const mostRedirects = 5;

/**
 * One GET with the key, redirects within the origin followed. Throws a `TransientError` for what another attempt may repair,
 * a `KeyRefusedError`, `ServiceError` or `DataError` for what it will not.
 */
export async function request(service: Service, url: URL, signal: AbortSignal): Promise<Answer> {
  let target = url;
  for (let redirects = 0; redirects <= mostRedirects; redirects += 1) {
    const response = await exchange(service, { method: 'GET', url: target, headers: {} }, signal);
    const { status } = response;
    if ([200, 204, 206].includes(status)) return { ...response, requestId: requestIdIn(response) };
    const location = status >= 300 && status < 400 ? response.headers['location'] : undefined;
    if (location === undefined) throw await errorAnswer(service, response, response.body);
    await response.discard();
    target = redirected(target, location, service.account.profile);
  }
  throw answerError({ kind: 'too-many-redirects', most: mostRedirects });
}

/** The key is for one origin: a redirect to another one is not followed (promise: never to another origin). */
function redirected(from: URL, location: string, profile: string | undefined): URL {
  const to = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (to?.origin === from.origin) return to;
  throw answerError({ kind: 'redirects-elsewhere', origin: to?.origin, profile });
}
