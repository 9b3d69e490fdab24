/** Bytes that are asked of the system at once. */
const slabBytes = 1024 * 1024;

/** A body and, behind it, the headers in JSON. */
export interface Kept {
  readonly slab: Buffer;
  readonly start: number;
  readonly bodyEnd: number;
  readonly end: number;
}

/**
 * Many small pieces of bytes in few large buffers: a buffer for each would cost more than it holds, and the collector
 * would look at all of them over and over. A slab goes when the last piece in it is forgotten.
 */
export class ByteArena {
  #slab = Buffer.alloc(0);
  #used = 0;

  keep(body: Uint8Array, headers: string): Kept {
    const size = body.length + Buffer.byteLength(headers);
    if (this.#used + size > this.#slab.length) {
      this.#slab = Buffer.allocUnsafeSlow(Math.max(size, slabBytes));
      this.#used = 0;
    }
    const kept = placed(this.#slab, this.#used, body, headers, size);
    this.#used = kept.end;
    return kept;
  }
}

/** The same in a buffer of its own, for what is soon forgotten. */
export function keepApart(body: Uint8Array, headers: string): Kept {
  const size = body.length + Buffer.byteLength(headers);
  return placed(Buffer.allocUnsafeSlow(size), 0, body, headers, size);
}

export const bodyIn = ({ slab, start, bodyEnd }: Kept): Uint8Array => slab.subarray(start, bodyEnd);

export const headersIn = ({ slab, bodyEnd, end }: Kept): [string, string][] =>
  JSON.parse(slab.toString('utf8', bodyEnd, end)) as [string, string][];

function placed(slab: Buffer, start: number, body: Uint8Array, headers: string, size: number): Kept {
  slab.set(body, start);
  slab.write(headers, start + body.length);
  return { slab, start, bodyEnd: start + body.length, end: start + size };
}
