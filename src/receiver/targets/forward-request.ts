import { Secret } from '../../secret.ts';
import type { CheckedDelivery } from '../../webhook/check-delivery.ts';
import type { Delivery } from '../../webhook/delivery.ts';

interface ForwardRequestOptions {
  readonly url: URL;
  readonly credentials: UrlCredentials | undefined;
  /** The path and query of the delivery go behind the path of `url`. */
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

/** Headers that hold for one connection only (RFC 9110, section 7.6.1), or are set again for the next one. */
const hopByHop =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-length|expect)$/i;

const ours = /^leads-(lead-id|attempt|verified|replay)$/i;

/** Several ids stand in a header up to so many characters: longer lists are left out. */
const longestIds = 4096;

/** A delivery as the app gets it: exact bytes and headers. Undefined when its path leads out of `url`'s own. */
export function forwardRequest(
  { delivery, leads, key, source }: CheckedDelivery,
  attempt: number,
  { url, credentials, keepPath, scheme, headersOf }: ForwardRequestOptions,
): ForwardRequest | undefined {
  const target = keepPath ? withPathOf(delivery, url) : url.href;
  if (target === undefined) return undefined;
  const more = headersOf?.({ url: target, body: delivery.body }) ?? [];
  const isReplaced = (name: string): boolean =>
    ours.test(name) ||
    (credentials !== undefined && /^authorization$/i.test(name)) ||
    more.some(([header]) => header.toLowerCase() === name.toLowerCase());
  return {
    url: target,
    headers: [
      ...endToEndHeaders(delivery).filter(([name]) => !isReplaced(name)),
      ...(credentials === undefined ? [] : [['authorization', credentials.authorization.reveal()] as const]),
      ...leadIdHeader(leads.map(({ leadId }) => leadId)),
      ['leads-attempt', String(attempt)],
      ...(scheme === undefined ? [] : [['leads-verified', verifiedBy(scheme, key, source)] as const]),
      ...more,
    ],
    body: delivery.body,
  };
}

/** A lead that was fetched from the service carries no credential; anybody may have sent one where nothing was verified. */
const verifiedBy = (scheme: string, key: number, source: CheckedDelivery['source']): string =>
  source === 'backfill' ? source : key === -1 ? 'none' : scheme;

/** Marks a delivery that an operator had sent once more. */
export const replayHeader = 'leads-replay';

function leadIdHeader(ids: readonly string[]): Delivery['rawHeaders'] {
  const texts = ids.map(headerText);
  const [first = ''] = texts;
  if (texts.length <= 1) return [['leads-lead-id', first]];
  const text = texts.map((id) => id.replaceAll(',', '%2C')).join(',');
  return text.length > longestIds ? [] : [['leads-lead-id', text]];
}

/** Percent-encoded where a header cannot hold it, so that `decodeURIComponent` gives the id again. */
const headerText = (id: string): string =>
  // A lone surrogate has no encoding: it becomes U+FFFD.
  Buffer.from(id, 'utf8')
    .toString('utf8')
    .replace(/[^!-$&-~]+/g, (characters) => encodeURIComponent(characters));

/** A lead that was fetched from the service came by no path of ours, and goes to `url` itself. */
function withPathOf({ method, path }: Delivery, { origin, pathname, href }: URL): string | undefined {
  if (method !== 'POST') return href;
  const pathAndQuery = path.startsWith('/') ? path : path.replace(/^https?:\/\/[^/?]*/i, '');
  const base = pathname.replace(/\/$/, '');
  const target = `${origin}${base}${pathAndQuery.startsWith('/') ? '' : '/'}${pathAndQuery}`;
  if (!URL.canParse(target)) return undefined;
  // Dot segments could lead to any other path of the app.
  return new URL(target).pathname.startsWith(`${base}/`) ? target : undefined;
}

export function endToEndHeaders({ rawHeaders }: Pick<Delivery, 'rawHeaders'>): Delivery['rawHeaders'] {
  const namedByConnection = rawHeaders
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.toLowerCase().split(/\s*,\s*/));
  return rawHeaders.filter(
    ([name]) => !hopByHop.test(name) && !namedByConnection.includes(name.toLowerCase()),
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
