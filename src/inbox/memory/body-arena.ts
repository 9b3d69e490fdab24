/** Size of one buffer. */
const bufferBytes = 1024 * 1024;

/** Where a body is and, right behind it, the headers in JSON. */
export interface StoredBytes {
  readonly buffer: Buffer;
  readonly start: number;
  readonly bodyEnd: number;
  readonly end: number;
}

/**
 * Many small pieces of bytes in few large buffers: a buffer for each would cost more than it holds, and the garbage
 * collector would look at all of them over and over. A buffer is freed with the last piece in it.
 */
export class BodyArena {
  #buffer = Buffer.alloc(0);
  #used = 0;

  store(body: Uint8Array, headers: string): StoredBytes {
    const size = body.length + Buffer.byteLength(headers);
    if (this.#used + size > this.#buffer.length) {
      this.#buffer = Buffer.allocUnsafeSlow(Math.max(size, bufferBytes));
      this.#used = 0;
    }
    const stored = copyInto(this.#buffer, this.#used, body, headers, size);
    this.#used = stored.end;
    return stored;
  }
}

/** The same in a buffer of its own, for what is soon dropped. */
export function storeApart(body: Uint8Array, headers: string): StoredBytes {
  const size = body.length + Buffer.byteLength(headers);
  return copyInto(Buffer.allocUnsafeSlow(size), 0, body, headers, size);
}

export const bodyIn = ({ buffer, start, bodyEnd }: StoredBytes): Uint8Array =>
  buffer.subarray(start, bodyEnd);

export const headersIn = ({ buffer, bodyEnd, end }: StoredBytes): [string, string][] =>
  JSON.parse(buffer.toString('utf8', bodyEnd, end)) as [string, string][];

function copyInto(
  buffer: Buffer,
  start: number,
  body: Uint8Array,
  headers: string,
  size: number,
): StoredBytes {
  buffer.set(body, start);
  buffer.write(headers, start + body.length);
  return { buffer, start, bodyEnd: start + body.length, end: start + size };
}
