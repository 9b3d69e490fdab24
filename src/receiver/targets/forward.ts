import { createPoster } from '../../http/client/poster.ts';
import type { TlsTrust } from '../../http/client/trust.ts';
import { isPlainHttpAnswer, isClosedOnPlainHttp } from '../../http/errors.ts';
import { Secret, withoutSecrets } from '../../secret.ts';
import { parseProblem, problemText } from '../../service/client/problem-text.ts';
import { retryAfterMs } from '../../service/client/rate-limit.ts';
import type { Target, TargetResult } from './target.ts';
import type { CheckedDelivery } from '../../webhook/check-delivery.ts';
import type { Delivery } from '../../webhook/delivery.ts';

interface ForwardOptions {
  readonly url: URL;
  readonly keepPath?: boolean;
  readonly scheme: string | undefined;
  readonly proxy: URL | undefined;
  readonly timeoutMs: number;
  readonly trust?: TlsTrust | undefined;
  readonly headersOf?: HeadersOf | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** The words of a header's value that may be a credential; shorter ones are ordinary words. */
const possibleSecrets = /[^\s,;=]{6,}/g;
const longestReason = 200;

/** Connections to the app, and so the most deliveries in flight to it. */
const connections = 64;

/**
 * Forwards the exact bytes and headers of a delivery, once for all leads in it. A redirect, which may lead to another host, is not
 * followed: the result names its `Location`.
 */
export function forwardTarget(options: ForwardOptions): Target {
  const { keepPath = false, scheme, proxy, timeoutMs, trust, headersOf, now, signal } = options;
  const { bare: url, credentials } = splitCredentials(options.url);
  const poster = createPoster({ connections, timeoutMs, trust, proxy });
  if (signal.aborted) poster.close();
  signal.addEventListener('abort', () => poster.close(), { once: true });
  const forward = async (request: ReturnType<typeof forwardRequest>): Promise<TargetResult> => {
    if (request === undefined) {
      const answer = "its path leads out of the target's URL";
      return { to: 'forward', ok: false, answer, durationMs: 0 };
    }
    const posted = await poster.post(request);
    const durationMs = Math.round(posted.durationMs);
    if (!posted.ok) {
      const through = proxy === undefined ? '' : ` (through the proxy ${proxy.host})`;
      const answer = `${unreachedText(posted.code, posted.detail, url, timeoutMs)}${through}`;
      return { to: 'forward', ok: false, answer, durationMs, isDown: true };
    }
    const { status } = posted;
    const result = { to: 'forward', ok: status >= 200 && status < 300, durationMs, status } as const;
    if (result.ok) return { ...result, answer: String(status) };
    const { 'retry-after': retryAfter, date, location } = posted.headers;
    // The app's answer may quote the headers that it was sent, the credential included.
    const sentWords = request.headers.flatMap(([, value]) => value.match(possibleSecrets) ?? []);
    const secrets = [...(credentials?.secrets ?? []), ...sentWords.map((word) => new Secret(word))];
    const redact = (text: string): string => withoutSecrets(text, secrets, '[redacted]');
    const reason = problemText(parseProblem(posted.body.toString('utf8')), redact)?.slice(0, longestReason);
    const isRedirect = status < 400 && location !== undefined;
    const details = isRedirect ? `, Location: ${redactUrl(location, redact)}` : reason && `: ${reason}`;
    const isDown = status >= 500 || status === 429 || undefined;
    const waitMs = retryAfterMs(retryAfter, now(), date);
    return { ...result, answer: `${status}${details ?? ''}`, isDown, retryAfterMs: waitMs };
  };
  return {
    name: `forward ${url.href}`,
    isWhole: true,
    concurrency: connections,
    deliver(checked, attempt) {
      const to = { url, credentials, keepPath, scheme, headersOf };
      return forward(forwardRequest(checked, attempt, to));
    },
    close() {
      poster.close();
      return Promise.resolve();
    },
  };
}

/** The origin stays as it is: a public host, which the sender's proxy may have named in a header, is no secret. */
function redactUrl(location: string, redact: (text: string) => string): string {
  const [originWithoutLogin = ''] = /^(?:https?:)?\/\/[^/?#@]*(?=[/?#]|$)/i.exec(location) ?? [];
  return originWithoutLogin + redact(location.slice(originWithoutLogin.length));
}

function unreachedText(code: string, detail: string, { protocol }: URL, timeoutMs: number): string {
  if (code === 'timeout') return `no answer within ${timeoutMs / 1000} s`;
  if (code === 'aborted') return 'given up at the end';
  if (code === 'ECONNREFUSED') return 'connection refused';
  if (isPlainHttpAnswer(detail)) return 'the app speaks plain HTTP: use http://';
  const isTls = protocol === 'http:' && isClosedOnPlainHttp(code);
  return isTls ? 'connection closed without an answer: is it HTTPS?' : detail;
}

/** With `keepPath`, the path and query of the delivery are appended to the path of `url`. */
interface ForwardRequestOptions {
  readonly url: URL;
  readonly credentials: UrlCredentials | undefined;
  readonly keepPath: boolean;
  /** Name of the scheme that verified the deliveries; undefined where that is not known any more. */
  readonly scheme: string | undefined;
  readonly headersOf?: HeadersOf | undefined;
}

/** Headers for one request, such as those of its signature. */
type HeadersOf = (request: Pick<ForwardRequest, 'url' | 'body'>) => Delivery['rawHeaders'];

interface ForwardRequest {
  readonly url: string;
  readonly headers: Delivery['rawHeaders'];
  readonly body: Uint8Array;
}

/** Headers that hold for one connection only (RFC 9110, section 7.6.1), or that a client sets itself. */
const connectionHeader =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-length|expect)$/i;

const ownHeader = /^leads-(lead-id|attempt|verified|replay)$/i;

/** Several ids are sent in a header of so many characters at most: servers limit the size of headers. */
const longestIdHeader = 4096;

/**
 * The request that brings a delivery to the app: the exact bytes, and the headers but for those of the connection and those that
 * are replaced. Undefined where `keepPath` would lead out of the path of `url`.
 */
export function forwardRequest(
  { delivery, leads, key, source }: CheckedDelivery,
  attempt: number,
  { url, credentials, keepPath, scheme, headersOf }: ForwardRequestOptions,
): ForwardRequest | undefined {
  const target = keepPath ? withPathOf(delivery, url) : url.href;
  if (target === undefined) return undefined;
  const addedHeaders = headersOf?.({ url: target, body: delivery.body }) ?? [];
  const isReplaced = (name: string): boolean =>
    ownHeader.test(name) ||
    (credentials !== undefined && /^authorization$/i.test(name)) ||
    addedHeaders.some(([header]) => header.toLowerCase() === name.toLowerCase());
  return {
    url: target,
    headers: [
      ...endToEndHeaders(delivery).filter(([name]) => !isReplaced(name)),
      ...(credentials === undefined ? [] : [['authorization', credentials.authorization.reveal()] as const]),
      ...leadIdHeader(leads.map(({ leadId }) => leadId)),
      ['leads-attempt', String(attempt)],
      ...(scheme === undefined ? [] : [['leads-verified', verifiedBy(scheme, key, source)] as const]),
      ...addedHeaders,
    ],
    body: delivery.body,
  };
}

/** The value of `leads-verified`: a delivery that no key verified (`key` is -1) may be from anyone, a fetched lead is the service's. */
function verifiedBy(scheme: string, key: number, source: CheckedDelivery['source']): string {
  if (source === 'backfill') return source;
  return key === -1 ? 'none' : scheme;
}

/** Marks a delivery that an operator had sent once more. */
export const replayHeader = 'leads-replay';

function leadIdHeader(ids: readonly string[]): Delivery['rawHeaders'] {
  const texts = ids.map(headerText);
  const [first = ''] = texts;
  if (texts.length <= 1) return [['leads-lead-id', first]];
  const text = texts.map((id) => id.replaceAll(',', '%2C')).join(',');
  return text.length > longestIdHeader ? [] : [['leads-lead-id', text]];
}

/** Percent-encodes what a header cannot hold, so that `decodeURIComponent` gives the id. A lone surrogate becomes U+FFFD. */
const headerText = (id: string): string =>
  Buffer.from(id, 'utf8')
    .toString('utf8')
    .replace(/[^!-$&-~]+/g, (characters) => encodeURIComponent(characters));

/** A lead that was fetched from the service (by GET) was received at no path, and goes to `url` itself. */
function withPathOf({ method, path }: Delivery, { origin, pathname, href }: URL): string | undefined {
  if (method !== 'POST') return href;
  const pathAndQuery = path.startsWith('/') ? path : path.replace(/^https?:\/\/[^/?]*/i, '');
  const base = pathname.replace(/\/$/, '');
  const target = `${origin}${base}${pathAndQuery.startsWith('/') ? '' : '/'}${pathAndQuery}`;
  if (!URL.canParse(target)) return undefined;
  // Dot segments could lead to any other path of the app.
  return new URL(target).pathname.startsWith(`${base}/`) ? target : undefined;
}

/** Leaves out the headers of the connection: the known ones, and those that `Connection` names. */
export function endToEndHeaders({ rawHeaders }: Pick<Delivery, 'rawHeaders'>): Delivery['rawHeaders'] {
  const namedByConnection = rawHeaders
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.toLowerCase().split(/\s*,\s*/));
  return rawHeaders.filter(
    ([name]) => !connectionHeader.test(name) && !namedByConnection.includes(name.toLowerCase()),
  );
}

interface UrlCredentials {
  /** `Basic …` (RFC 7617). */
  readonly authorization: Secret;
  /** Every text that must not be shown. */
  readonly secrets: readonly Secret[];
}

function splitCredentials(url: URL): { readonly bare: URL; readonly credentials?: UrlCredentials } {
  const [user, password] = [decoded(url.username), decoded(url.password)];
  const bare = new URL(url);
  bare.username = '';
  bare.password = '';
  if (user === '' && password === '') return { bare };
  const basic = Buffer.from(`${user}:${password}`, 'utf8').toString('base64');
  const secrets = [basic, password].filter((text) => text !== '').map((text) => new Secret(text));
  return { bare, credentials: { authorization: new Secret(`Basic ${basic}`), secrets } };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // A percent sign that begins no escape stands for itself.
    return part;
  }
}
