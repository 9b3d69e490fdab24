import { type Delivery, headerValues } from '../../webhook/delivery.ts';

/**
 * A Fetch `Request` whose body is unread, such as Hono's `c.req.raw` or the argument of a route handler of
 * Next.
 */
export interface FetchRequest {
  readonly method: string;
  /** The whole URL with scheme and host. */
  readonly url: string;
  readonly headers: { forEach(callback: (value: string, name: string) => void): void };
  readonly bodyUsed: boolean;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** A request of `node:http` or Express, whose body is unread, or kept as bytes in `body` or `rawBody`. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly rawHeaders: readonly string[];
  readonly httpVersion: string;
  readonly readableDidRead: boolean;
  readonly readableEnded: boolean;
  /** The encoding that `setEncoding` has set. */
  readonly readableEncoding?: string | null | undefined;
  readonly destroyed: boolean;
  resume(): unknown;
  on(event: string, listener: (piece: Uint8Array) => void): unknown;
  off(event: string, listener: (piece: Uint8Array) => void): unknown;
}

/** The parts of a request from any other server, such as Fastify or AWS Lambda. */
export interface PlainRequest {
  readonly method: string;
  /**
   * The whole URL, or path and query: then a scheme that signs the URL takes the host from the headers, and
   * https.
   */
  readonly url: string;
  /** A list holds the values of a header that was sent several times. */
  readonly headers:
    | Readonly<Record<string, string | readonly string[] | undefined>>
    | FetchRequest['headers']
    | readonly (readonly [name: string, value: string])[];
  /**
   * The body as it was sent. A text stands for its bytes in UTF-8; decode base64 (`isBase64Encoded`) first.
   */
  readonly body: Uint8Array | ArrayBuffer | string | null | undefined;
}

export type WebhookRequest = FetchRequest | NodeRequest | PlainRequest;

export const isFetchRequest = (request: object): request is FetchRequest =>
  'method' in request && 'bodyUsed' in request && 'headers' in request;

export const isNodeRequest = (request: object): request is NodeRequest =>
  'rawHeaders' in request && 'readableEnded' in request && 'on' in request;

const isPlainRequest = (request: object): request is PlainRequest => {
  const { method, url, headers } = request as Partial<Record<keyof PlainRequest, unknown>>;
  const isHead = typeof method === 'string' && typeof url === 'string' && typeof headers === 'object';
  return isHead && headers !== null && 'body' in request;
};

/**
 * The head of a request as a `Delivery` with an empty body; `readDelivery` adds the bytes. Undefined for a value that is no
 * request. `receivedAt` is in milliseconds since the epoch.
 */
export function deliveryHead(request: unknown, receivedAt: number): Delivery | undefined {
  const parts = typeof request === 'object' && request !== null ? partsOf(request) : undefined;
  if (parts === undefined) return undefined;
  const { method, target, rawHeaders, remote = '', protocol = 'https' } = parts;
  const isWholeUrl = /^https?:\/\//i.test(target);
  // HTTP/2 sends `:authority` in place of `Host`.
  const [host = ''] = headerValues({ rawHeaders }, 'host').concat(headerValues({ rawHeaders }, ':authority'));
  return {
    method,
    path: isWholeUrl ? pathAndQuery(target) : target,
    url: isWholeUrl ? target : `${protocol}://${host}${target}`,
    rawHeaders,
    body: new Uint8Array(),
    remote,
    receivedAt,
  };
}

/** `target` is a whole URL, or path and query. `remote` and `protocol` are known for a socket alone. */
interface Parts {
  readonly method: string;
  readonly target: string;
  readonly rawHeaders: Delivery['rawHeaders'];
  readonly remote?: string | undefined;
  readonly protocol?: 'http' | 'https' | undefined;
}

function partsOf(request: object): Parts | undefined {
  if (isFetchRequest(request)) {
    return { method: request.method, target: request.url, rawHeaders: headerPairs(request.headers) };
  }
  if (isNodeRequest(request)) {
    const { method = '', rawHeaders: raw } = request;
    // Express removes the part of the path at which a router is mounted.
    const original = 'originalUrl' in request ? request.originalUrl : undefined;
    const target = typeof original === 'string' ? original : (request.url ?? '/');
    const rawHeaders = raw.flatMap((name, i) => (i % 2 === 0 ? [[name, raw[i + 1] ?? ''] as const] : []));
    return { method, target, rawHeaders, ...peerOf(request) };
  }
  if (!isPlainRequest(request)) return undefined;
  const { method, url, headers } = request;
  return { method, target: url, rawHeaders: headerPairs(headers) };
}

function peerOf(request: object): Pick<Parts, 'remote' | 'protocol'> {
  const socket: unknown = 'socket' in request ? request.socket : undefined;
  if (typeof socket !== 'object' || socket === null) return {};
  const remote = 'remoteAddress' in socket ? socket.remoteAddress : undefined;
  return {
    remote: typeof remote === 'string' ? remote : undefined,
    protocol: 'encrypted' in socket && socket.encrypted === true ? 'https' : 'http',
  };
}

function headerPairs(headers: PlainRequest['headers']): Delivery['rawHeaders'] {
  if (isPairs(headers)) return headers;
  const pairs: [string, string][] = [];
  if (isIterated(headers)) {
    headers.forEach((value, name) => pairs.push([name, value]));
    return pairs;
  }
  for (const [name, value] of Object.entries(headers)) {
    for (const single of typeof value === 'string' ? [value] : (value ?? [])) pairs.push([name, single]);
  }
  return pairs;
}

const isPairs = (headers: PlainRequest['headers']): headers is readonly (readonly [string, string])[] =>
  Array.isArray(headers);

const isIterated = (
  headers: PlainRequest['headers'],
): headers is Extract<PlainRequest['headers'], { forEach(callback: never): void }> =>
  typeof headers['forEach' as keyof typeof headers] === 'function';

function pathAndQuery(url: string): string {
  const path = url.replace(/^https?:\/\/[^/?#]*/i, '').replace(/#.*/, '');
  return path.startsWith('/') ? path : `/${path}`;
}
