import { createHash } from 'node:crypto';
import { identityBytes } from './identity.ts';

/** What adding an id found: never met, met before this pass (or preloaded), or met in this very pass. */
export type Meeting = 'new' | 'earlier' | 'repeat';

const blockBits = 20;
const blockSize = 1 << blockBits;
/** Longer ids are told apart by a digest, so that an entry always fits a block. */
const longestId = 4096;
/** Entries begin at multiples of four, so that 32 bits reach 16 GiB of ids. */
const unit = 4;
const headerSize = 4;
const lastPass = 0xffff;

/**
 * The ids that a walk has met. A false duplicate would lose a lead, so ids are kept and compared whole, in bytes: an
 * open-addressing table of hashes and places, and the ids one behind the other in blocks. A million UUIDs take about
 * 60 MB, a fourth of what a `Set` of strings does, and there is no limit at 16.7 million.
 */
export class IdSet {
  #hashes = new Uint32Array(1 << 10);
  /** Where an entry lies, in units, plus one; 0 is a free slot. */
  #places = new Uint32Array(1 << 10);
  /** An entry: the pass (two bytes), the length (two bytes), the id. */
  readonly #blocks: Buffer[] = [];
  #used = blockSize;
  #count = 0;
  #pass = 1;

  get size(): number {
    return this.#count;
  }

  /** Knows an id from elsewhere (a checkpoint, a bookmark): it will be met as `earlier`. */
  preload(id: string): void {
    const bytes = identityBytes(id);
    this.#meet(bytes, 0, bytes.length, 0);
  }

  has(id: string): boolean {
    const bytes = shortened(identityBytes(id));
    return this.#places[this.#slot(bytes, 0, bytes.length, hashOf(bytes, 0, bytes.length))] !== 0;
  }

  /** Begins another pass over the same list: what was met before is `earlier` from now on. */
  nextPass(): void {
    this.#pass = this.#pass === lastPass ? 1 : this.#pass + 1;
  }

  meet(id: string): Meeting {
    const bytes = identityBytes(id);
    return this.#meet(bytes, 0, bytes.length, this.#pass);
  }

  /** The same for an id that lies in UTF-8 in `buf[start, end)`. */
  meetBytes(buf: Uint8Array, start: number, end: number): Meeting {
    return this.#meet(buf, start, end, this.#pass);
  }

  #meet(buf: Uint8Array, start: number, end: number, pass: number): Meeting {
    if (end - start > longestId) {
      const short = shortened(buf.subarray(start, end));
      return this.#meet(short, 0, short.length, pass);
    }
    const hash = hashOf(buf, start, end);
    const slot = this.#slot(buf, start, end, hash);
    const place = this.#places[slot] as number;
    if (place === 0) {
      this.#hashes[slot] = hash;
      this.#places[slot] = this.#append(buf, start, end, pass);
      this.#count += 1;
      if (this.#count * 4 > this.#places.length * 3) this.#grow();
      return 'new';
    }
    const at = (place - 1) * unit;
    const block = this.#blocks[Math.floor(at / blockSize)] as Buffer;
    const header = at % blockSize;
    const before = (block[header] as number) | ((block[header + 1] as number) << 8);
    if (pass === 0) return 'earlier';
    block[header] = pass & 0xff;
    block[header + 1] = pass >> 8;
    return before === pass ? 'repeat' : 'earlier';
  }

  /** The slot that holds this id, or the free one where it belongs. */
  #slot(buf: Uint8Array, start: number, end: number, hash: number): number {
    const mask = this.#places.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const place = this.#places[slot] as number;
      if (place === 0) return slot;
      if (this.#hashes[slot] === hash && this.#holds(place, buf, start, end)) return slot;
    }
  }

  #holds(place: number, buf: Uint8Array, start: number, end: number): boolean {
    const at = (place - 1) * unit;
    const block = this.#blocks[Math.floor(at / blockSize)] as Buffer;
    const header = at % blockSize;
    const length = end - start;
    if (((block[header + 2] as number) | ((block[header + 3] as number) << 8)) !== length) return false;
    for (let i = 0; i < length; i += 1) {
      if (block[header + headerSize + i] !== buf[start + i]) return false;
    }
    return true;
  }

  #append(buf: Uint8Array, start: number, end: number, pass: number): number {
    const length = end - start;
    if (this.#used + headerSize + length > blockSize) {
      this.#blocks.push(Buffer.allocUnsafeSlow(blockSize));
      this.#used = 0;
    }
    const block = this.#blocks[this.#blocks.length - 1] as Buffer;
    const at = this.#used;
    block[at] = pass & 0xff;
    block[at + 1] = pass >> 8;
    block[at + 2] = length & 0xff;
    block[at + 3] = length >> 8;
    for (let i = 0; i < length; i += 1) block[at + headerSize + i] = buf[start + i] as number;
    this.#used = Math.ceil((at + headerSize + length) / unit) * unit;
    return ((this.#blocks.length - 1) * blockSize + at) / unit + 1;
  }

  #grow(): void {
    const [hashes, places] = [this.#hashes, this.#places];
    const length = places.length * 2;
    const mask = length - 1;
    this.#hashes = new Uint32Array(length);
    this.#places = new Uint32Array(length);
    for (let i = 0; i < places.length; i += 1) {
      if (places[i] === 0) continue;
      let slot = (hashes[i] as number) & mask;
      while (this.#places[slot] !== 0) slot = (slot + 1) & mask;
      this.#hashes[slot] = hashes[i] as number;
      this.#places[slot] = places[i] as number;
    }
  }
}

function shortened(id: Uint8Array): Uint8Array {
  if (id.length <= longestId) return id;
  return Buffer.concat([Buffer.from([0xfe]), createHash('sha256').update(id).digest()]);
}

/** MurmurHash3's 32-bit mixing, four bytes a step. Equal hashes only cost time: the ids themselves decide. */
function hashOf(buf: Uint8Array, start: number, end: number): number {
  let hash = 0x9747b28c ^ (end - start);
  let i = start;
  for (; i + 4 <= end; i += 4) {
    const word =
      (buf[i] as number) |
      ((buf[i + 1] as number) << 8) |
      ((buf[i + 2] as number) << 16) |
      ((buf[i + 3] as number) << 24);
    hash = Math.imul(hash ^ Math.imul(word, 0xcc9e2d51), 0x5bd1e995);
    hash ^= hash >>> 15;
  }
  for (; i < end; i += 1) hash = Math.imul(hash ^ (buf[i] as number), 0x5bd1e995);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
