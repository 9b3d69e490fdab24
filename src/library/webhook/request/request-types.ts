/** A Fetch `Request` whose body nobody has read: Hono's `c.req.raw`, the argument of a route handler of Next. */
export interface FetchRequest {
  readonly method: string;
  /** With scheme and host. */
  readonly url: string;
  readonly headers: { forEach(callback: (value: string, name: string) => void): void };
  readonly bodyUsed: boolean;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** A request of `node:http`, or Express's: its body unread, or kept as bytes in `body` or `rawBody`. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly rawHeaders: readonly string[];
  readonly httpVersion: string;
  readonly readableDidRead: boolean;
  readonly readableEnded: boolean;
  /** Of `setEncoding`. */
  readonly readableEncoding?: string | null | undefined;
  readonly destroyed: boolean;
  resume(): unknown;
  on(event: string, listener: (piece: Uint8Array) => void): unknown;
  off(event: string, listener: (piece: Uint8Array) => void): unknown;
}

/** The parts of a request, for every other server: Fastify's `request`, an event of AWS Lambda. */
export interface PlainRequest {
  readonly method: string;
  /** Whole, or path and query; a scheme that signs the URL then takes the host from the headers, and https. */
  readonly url: string;
  /** A list of values is a header that was sent so many times. */
  readonly headers:
    | Readonly<Record<string, string | readonly string[] | undefined>>
    | FetchRequest['headers']
    | readonly (readonly [name: string, value: string])[];
  /** As it was sent. A text stands for its bytes in UTF-8: base64 (`isBase64Encoded`) has to be decoded first. */
  readonly body: Uint8Array | ArrayBuffer | string | null | undefined;
}

export type WebhookRequest = FetchRequest | NodeRequest | PlainRequest;

export const isFetchRequest = (request: object): request is FetchRequest =>
  'arrayBuffer' in request && 'bodyUsed' in request && 'headers' in request;

export const isNodeRequest = (request: object): request is NodeRequest =>
  'rawHeaders' in request && 'readableEnded' in request && 'on' in request;

export const isPlainRequest = (request: object): request is PlainRequest =>
  'method' in request && 'url' in request && 'headers' in request && 'body' in request;
