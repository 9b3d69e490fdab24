import { createHash } from 'node:crypto';
import { idBytes } from './id-bytes.ts';

/** What adding an id found: never met, met before this pass (or preloaded), or met in this very pass. */
export type AddResult = 'new' | 'earlier' | 'repeat';

/** Words of 32 bits: a page of leads needs one block, which must not cost more than the page. */
const blockSize = 1 << 14;
/** Bytes; longer ids are told apart by a digest, so that an entry always fits a block. */
const longestId = 4096;
const lastPass = 0xffff;

/**
 * The ids that a walk has met. A false duplicate would lose a lead, so ids are kept and compared whole: an
 * open-addressing table of hashes and places, and the ids one behind the other in blocks, four bytes a step. A million
 * UUIDs take about 60 MB, a fourth of what a `Set` of strings does, and there is no limit at 16.7 million.
 */
export class IdSet {
  /** For each slot a hash, and where its entry lies, in words, plus one; 0 when the slot is free. */
  #slots = new Int32Array(2 << 10);
  /** An entry: the pass and the length in one word, then the id, its last word filled up with zeros. */
  readonly #blocks: Int32Array[] = [];
  #used = blockSize;
  #count = 0;
  #pass = 1;
  /** What was read last: leads come many from one piece of memory. */
  #source: Uint8Array = new Uint8Array();
  #view = viewOf(this.#source);

  get size(): number {
    return this.#count;
  }

  /** Knows an id from elsewhere (a checkpoint, a bookmark): it will be met as `earlier`. */
  preload(id: string): void {
    const bytes = idBytes(id);
    this.#meet(bytes, 0, bytes.length, 0);
  }

  has(id: string): boolean {
    const bytes = idBytes(id);
    return this.#slots[this.#slot(this.#draft(bytes, 0, bytes.length)) + 1] !== 0;
  }

  /** Begins another pass over the same list: what was met before is `earlier` from now on. */
  nextPass(): void {
    this.#pass = this.#pass === lastPass ? 1 : this.#pass + 1;
  }

  add(id: string): AddResult {
    const bytes = idBytes(id);
    return this.#meet(bytes, 0, bytes.length, this.#pass);
  }

  /** The same for an id that lies in UTF-8 in `buf[start, end)`. */
  addBytes(buf: Uint8Array, start: number, end: number): AddResult {
    return this.#meet(buf, start, end, this.#pass);
  }

  #meet(buf: Uint8Array, start: number, end: number, pass: number): AddResult {
    const hash = this.#draft(buf, start, end);
    const slot = this.#slot(hash);
    const place = this.#slots[slot + 1] as number;
    if (place === 0) {
      this.#slots[slot] = hash;
      this.#slots[slot + 1] = this.#append(pass);
      this.#count += 1;
      if (this.#count * 8 > this.#slots.length * 3) this.#grow();
      return 'new';
    }
    if (pass === 0) return 'earlier';
    const block = this.#blocks[Math.floor((place - 1) / blockSize)] as Int32Array;
    const at = (place - 1) % blockSize;
    const header = block[at] as number;
    block[at] = headerOf(pass, lengthIn(header));
    return header >>> 16 === pass ? 'repeat' : 'earlier';
  }

  /** Writes an id where the next entry would lie, and gives its hash: MurmurHash3's mixing, a word a step. */
  #draft(buf: Uint8Array, start: number, end: number): number {
    if (end - start > longestId) {
      const short = digestOf(buf.subarray(start, end));
      return this.#draft(short, 0, short.length);
    }
    const length = end - start;
    if (this.#used + 1 + Math.ceil(length / 4) > blockSize) {
      this.#blocks.push(new Int32Array(blockSize));
      this.#used = 0;
    }
    if (buf !== this.#source) {
      this.#source = buf;
      this.#view = viewOf(buf);
    }
    const view = this.#view;
    const block = this.#blocks[this.#blocks.length - 1] as Int32Array;
    block[this.#used] = length;
    let to = this.#used + 1;
    let hash = 0x9747b28c ^ length;
    let i = start;
    for (; i + 4 <= end; i += 4) {
      const word = view.getInt32(i, true);
      block[to] = word;
      to += 1;
      hash = mixed(hash, word);
    }
    if (i < end) {
      let word = 0;
      for (let shift = 0; i < end; i += 1, shift += 8) word |= (buf[i] as number) << shift;
      block[to] = word;
      hash = mixed(hash, word);
    }
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    return hash ^ (hash >>> 16);
  }

  /** The slot that holds the drafted id, or the free one where it belongs. */
  #slot(hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = (hash << 1) & mask; ; slot = (slot + 2) & mask) {
      const place = slots[slot + 1] as number;
      if (place === 0 || (slots[slot] === hash && this.#isDrafted(place))) return slot;
    }
  }

  #isDrafted(place: number): boolean {
    const block = this.#blocks[Math.floor((place - 1) / blockSize)] as Int32Array;
    const drafted = this.#blocks[this.#blocks.length - 1] as Int32Array;
    const at = (place - 1) % blockSize;
    const length = lengthIn(drafted[this.#used] as number);
    if (lengthIn(block[at] as number) !== length) return false;
    for (let i = Math.ceil(length / 4); i > 0; i -= 1) {
      if (block[at + i] !== drafted[this.#used + i]) return false;
    }
    return true;
  }

  /** Keeps the drafted id; gives its place. */
  #append(pass: number): number {
    const block = this.#blocks[this.#blocks.length - 1] as Int32Array;
    const at = this.#used;
    const length = block[at] as number;
    block[at] = headerOf(pass, length);
    this.#used = at + 1 + Math.ceil(length / 4);
    return (this.#blocks.length - 1) * blockSize + at + 1;
  }

  #grow(): void {
    const old = this.#slots;
    const slots = new Int32Array(old.length * 2);
    const mask = slots.length - 1;
    for (let i = 0; i < old.length; i += 2) {
      if (old[i + 1] === 0) continue;
      let slot = ((old[i] as number) << 1) & mask;
      while (slots[slot + 1] !== 0) slot = (slot + 2) & mask;
      slots[slot] = old[i] as number;
      slots[slot + 1] = old[i + 1] as number;
    }
    this.#slots = slots;
  }
}

const viewOf = (buf: Uint8Array): DataView => new DataView(buf.buffer, buf.byteOffset, buf.byteLength);

const headerOf = (pass: number, length: number): number => (pass << 16) | length;
const lengthIn = (header: number): number => header & 0xffff;

function mixed(hash: number, word: number): number {
  const next = Math.imul(hash ^ Math.imul(word, 0xcc9e2d51), 0x5bd1e995);
  return next ^ (next >>> 15);
}

/** Never equal to the bytes of an id, which UTF-8 or a mark of its own begins. */
function digestOf(id: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from([0xfe]), createHash('sha256').update(id).digest()]);
}
