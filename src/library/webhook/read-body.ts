import { ConfigError, LeadsError } from '../../errors.ts';
import { longestTimerMs } from '../../time/time-text.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import { type Rejection, rejection } from '../../webhook/delivery-answer.ts';
import { asBytes } from './lead.ts';
import type { RequestLimits } from './options.ts';
import {
  deliveryHead,
  type FetchRequest,
  isFetchRequest,
  isNodeRequest,
  type NodeRequest,
  type WebhookRequest,
} from './request.ts';

/** Readings of bodies by their request: a stream can be read only once, and `explain` follows `verify`. */
const streamReadings = new WeakMap<object, Promise<ReadBody>>();

/**
 * Reads the whole request. First it finds where the framework keeps the body: as bytes in memory, or as a stream, which
 * is then read within the limits. `now` is in milliseconds since the epoch. Rejects with a `ParsedBodyError` where the
 * body was read before, and with a `ConfigError` for a value that is no request.
 */
export async function readDelivery(
  request: WebhookRequest,
  { maxBodyBytes = 1024 * 1024, bodyTimeoutMs = 15_000 }: RequestLimits,
  now: number,
): Promise<Delivery | Rejection> {
  const head = deliveryHead(request, now);
  if (head === undefined) throw noRequest(request);
  let reading = streamReadings.get(request);
  // No await may come between this look at the map and the new entry: a second call would begin to read as well.
  if (reading === undefined) {
    const source = findBody(request);
    if ('lost' in source) throw parsedBodyError(request, source.lost);
    reading = readBody(source, maxBodyBytes, bodyTimeoutMs);
    if (typeof source === 'function') streamReadings.set(request, reading);
  }
  const body = await reading;
  return body.kind === 'body' ? { ...head, body: body.bytes } : body;
}

/** Receives a body in pieces. `end` or `fail` comes last, once. */
interface BodyConsumer {
  piece(bytes: Uint8Array): void;
  end(): void;
  fail(): void;
}

/** A body in memory, or a function that starts to read one and returns a function that stops. */
type BodySource = Uint8Array | ((consumer: BodyConsumer) => () => void);

/** `lost` is the value that replaced the bytes of a body, such as a parsed object; undefined where nothing is left. */
type LostBody = { readonly lost: unknown };

function findBody(request: object): BodySource | LostBody {
  if (isFetchRequest(request)) return fetchSource(request);
  if (isNodeRequest(request)) return nodeSource(request);
  const body = 'body' in request ? request.body : undefined;
  if (typeof body === 'string') return Buffer.from(body);
  const bytes = body === undefined || body === null ? new Uint8Array() : asBytes(body);
  return bytes ?? { lost: body };
}

interface ByteReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/** The used part of a stream of the Fetch standard. */
interface ByteStream {
  readonly locked: boolean;
  getReader(): ByteReader;
}

function fetchSource(request: FetchRequest): BodySource | LostBody {
  const body = ('body' in request ? request.body : null) as ByteStream | null | undefined;
  if (request.bodyUsed || body?.locked === true) return { lost: undefined };
  if (body === null || body === undefined) return new Uint8Array();
  return (consumer) => {
    const reader = body.getReader();
    let isStopped = false;
    const pump = async (): Promise<void> => {
      for (;;) {
        const { done, value } = await reader.read();
        if (isStopped) return;
        if (done) break;
        if (value !== undefined) consumer.piece(value);
      }
      consumer.end();
    };
    pump().catch(() => consumer.fail());
    return () => {
      isStopped = true;
      // The remaining bytes do not matter, and neither does an error about them.
      reader.cancel().catch(() => undefined);
    };
  };
}

function nodeSource(request: NodeRequest): BodySource | LostBody {
  const body = 'body' in request ? request.body : undefined;
  const bytes = asBytes('rawBody' in request ? request.rawBody : undefined) ?? asBytes(body);
  if (bytes !== undefined) return bytes;
  // A body that is set is no sign that it was read: parsers that leave a request alone may set an empty object.
  if (request.readableDidRead || request.readableEnded) return { lost: body };
  // Decoded text has lost bytes that are not UTF-8.
  if (typeof request.readableEncoding === 'string') return { lost: '' };
  return (consumer) => {
    const piece = (bytes: Uint8Array): void => consumer.piece(bytes);
    const end = (): void => consumer.end();
    const fail = (): void => consumer.fail();
    // No event comes any more where the client disconnected before.
    if (request.destroyed) consumer.fail();
    request.on('data', piece);
    request.on('end', end);
    request.on('close', fail);
    request.on('error', fail);
    // A listener alone does not continue a paused stream.
    request.resume();
    // The listener for errors stays, since a later error would end the process. Node drops the remaining bytes.
    return () => {
      request.off('data', piece);
      request.off('end', end);
      request.off('close', fail);
    };
  };
}

type ReadBody = { readonly kind: 'body'; readonly bytes: Uint8Array } | Rejection;

const tooLarge = (limit: number): Rejection =>
  rejection('too_large', `the body is larger than ${limit} bytes`);

/** Never rejects: a client that stops, is too slow or sends too much is a `Rejection`. */
async function readBody(source: BodySource, maxBytes: number, timeoutMs: number): Promise<ReadBody> {
  if (typeof source !== 'function') {
    return source.length > maxBytes ? tooLarge(maxBytes) : { kind: 'body', bytes: source };
  }
  const pieces: Uint8Array[] = [];
  let size = 0;
  let timer: NodeJS.Timeout | undefined;
  let stop = (): void => undefined;
  try {
    return await new Promise<ReadBody>((resolve) => {
      stop = source({
        piece(bytes) {
          size += bytes.length;
          if (size > maxBytes) resolve(tooLarge(maxBytes));
          else pieces.push(bytes);
        },
        end: () => resolve({ kind: 'body', bytes: Buffer.concat(pieces) }),
        fail: () => resolve(rejection('incomplete_body', `the connection ended after ${size} bytes`)),
      });
      const tooSlow = rejection('too_slow', `the body was not complete after ${timeoutMs / 1000} s`);
      timer = setTimeout(() => resolve(tooSlow), Math.min(timeoutMs, longestTimerMs));
    });
  } finally {
    clearTimeout(timer);
    stop();
  }
}

/**
 * The application read the body before `verify`: the bytes that the signature covers are lost. No sender can
 * cause this. `hint` names the fix for the framework that was recognized.
 */
export class ParsedBodyError extends LeadsError {
  override readonly name = 'ParsedBodyError';
  readonly code = 'parsed_body';
}

function parsedBodyError(request: object, replacement: unknown): ParsedBodyError {
  return new ParsedBodyError(
    `the body of the request was read before its signature was checked: ${lossOf(replacement)}`,
    { hint: parsedBodyHint(request) },
  );
}

function lossOf(replacement: unknown): string {
  if (replacement === undefined || replacement === null) return 'nothing is left of it';
  return typeof replacement === 'string'
    ? 'its bytes were decoded to a text'
    : 'it is an object that was parsed';
}

const lambda = "Buffer.from(event.body, event.isBase64Encoded ? 'base64' : 'utf8')";
const express =
  "Express: route it before app.use(express.json()), or give its route express.raw({ type: '*/*' }) instead";
const nest = 'Nest: NestFactory.create(AppModule, { rawBody: true })';
const fastify =
  "Fastify: register the route in a scope of its own, with removeAllContentTypeParsers() and addContentTypeParser('*', (request, payload, done) => done(null)); give request.raw";
const nextPages = 'Next, pages/api: export const config = { api: { bodyParser: false } }';

/** Recognizes the framework by members that only its requests have. */
function parsedBodyHint(request: object): string {
  if ('bodyUsed' in request) {
    return 'Hono: pass c.req.raw, and read nothing from c.req before; Next, route.ts: pass the request, without request.json() or request.text() before';
  }
  // `setEncoding` loses the bytes before anything is read.
  if ('readableDidRead' in request && !request.readableDidRead) {
    return 'node: call no setEncoding() on the request';
  }
  if ('routeOptions' in request) return fastify;
  if ('ctx' in request && 'req' in request) return 'Koa: give ctx.req, before the body parser';
  // Nest serves with Express unless it is asked for Fastify.
  if ('app' in request && 'next' in request) return `${express}; ${nest}`;
  if ('query' in request && 'cookies' in request) return nextPages;
  if ('rawHeaders' in request) return [express, nest, fastify, nextPages].join('; ');
  return `pass the bytes as they came, such as Express's request.body behind express.raw(), or ${lambda} on AWS Lambda`;
}

/** The hint names the request inside the value, by the framework that was recognized. */
const noRequest = (value: unknown): ConfigError =>
  new ConfigError('what was given to check is no request', { hint: requestHint(value) });

function requestHint(value: unknown): string {
  const raw = memberOf(value, 'raw');
  if (isFetchRequest(raw)) return 'Hono: give c.req.raw in place of c.req';
  if (isFetchRequest(memberOf(memberOf(value, 'req'), 'raw'))) return 'Hono: give c.req.raw in place of c';
  if (isNodeRequest(raw)) return 'Fastify: give request.raw';
  if (isNodeRequest(memberOf(value, 'req'))) return 'Koa: give ctx.req';
  if (typeof value === 'object' && value !== null && 'requestContext' in value) {
    return `AWS Lambda: give { method, url, headers, body: ${lambda} }`;
  }
  return "give a Fetch Request (Hono's c.req.raw), a request of node:http or Express, or { method, url, headers, body }";
}

/** Returns an object that a framework keeps in its own one; an empty object where it has none. */
function memberOf(value: unknown, name: string): object {
  const member: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  return typeof member === 'object' && member !== null ? member : {};
}
