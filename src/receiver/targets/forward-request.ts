import { Secret } from '../../secret.ts';
import type { CheckedDelivery } from '../../webhook/check-delivery.ts';
import type { Delivery } from '../../webhook/delivery.ts';

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
export type HeadersOf = (request: Pick<ForwardRequest, 'url' | 'body'>) => Delivery['rawHeaders'];

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

export function splitCredentials(url: URL): { readonly bare: URL; readonly credentials?: UrlCredentials } {
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
