import { asBytes } from './as-bytes.ts';
import { ParsedBodyError } from './parsed-body-error.ts';
import { type FetchRequest, isFetchRequest, isNodeRequest, type NodeRequest } from './request-types.ts';

/** Gets a body in pieces; `end` or `fail` comes last, once. */
interface BodyConsumer {
  piece(bytes: Uint8Array): void;
  end(): void;
  /** The connection ended before the body did. */
  fail(): void;
}

/** A body that is there already, or what starts to read one and returns what ends that early. */
export type BodySource = Uint8Array | ((consumer: BodyConsumer) => () => void);

/** Rejects at once with a `ParsedBodyError` where the bytes of the body are lost. */
export async function bodySource(request: object): Promise<BodySource> {
  const found = findBody(request);
  if (!('lost' in found)) return found;
  const { hintFor } = await import('./parsed-body-hint.ts');
  throw new ParsedBodyError(
    `the body of the request was read before its signature was checked: ${describeBody(found.lost)}`,
    { hint: hintFor(request) },
  );
}

function describeBody(body: unknown): string {
  if (typeof body === 'string') return 'its bytes were decoded to a text';
  return body === undefined || body === null ? 'nothing is left of it' : 'it is an object that was parsed';
}

/** What is there instead of the bytes of a body. */
interface LostBody {
  readonly lost: unknown;
}

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

/** A stream of the Fetch standard, as far as it is used. */
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
      // What was sent further is not wanted, and neither is an error about it.
      reader.cancel().catch(() => undefined);
    };
  };
}

function nodeSource(request: NodeRequest): BodySource | LostBody {
  const body = 'body' in request ? request.body : undefined;
  const kept = asBytes('rawBody' in request ? request.rawBody : undefined) ?? asBytes(body);
  if (kept !== undefined) return kept;
  // Parsers that leave a request alone may still set an empty object.
  if (request.readableDidRead || request.readableEnded) return { lost: body };
  // Bytes that are no UTF-8 would not be what was signed.
  if (typeof request.readableEncoding === 'string') return { lost: '' };
  return (consumer) => {
    const piece = (bytes: Uint8Array): void => consumer.piece(bytes);
    const end = (): void => consumer.end();
    const fail = (): void => consumer.fail();
    // The client went away before anybody listened: no event comes any more.
    if (request.destroyed) consumer.fail();
    request.on('data', piece);
    request.on('end', end);
    request.on('close', fail);
    request.on('error', fail);
    // A listener alone does not continue what somebody has paused.
    request.resume();
    // Without a listener the rest is read and dropped, so that the client can read the answer. An error that comes later
    // still has a listener, and so ends no process.
    return () => {
      request.off('data', piece);
      request.off('end', end);
      request.off('close', fail);
    };
  };
}
