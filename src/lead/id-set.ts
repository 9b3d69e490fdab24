import { createHash } from 'node:crypto';
import { sha256 } from '../json/bytes.ts';

/** `earlier`: the id was met in an earlier pass, or preloaded. `repeat`: it was met in this pass. */
export type AddResult = 'new' | 'earlier' | 'repeat';

/** A record whose plain id is UTF-8 in `source[idStart, idEnd)`. */
export interface PlainId {
  readonly hasPlainId: boolean;
  readonly source: Uint8Array;
  readonly idStart: number;
  readonly idEnd: number;
}

/** The words of 32 bits in a block. A page of leads needs one block, which must not take more memory than the page. */
const blockSize = 1 << 14;
const longestId = 4096;
const noPass = -1;

/**
 * The ids of the leads listed so far, each with the last pass over the list in which it was met. A false duplicate would
 * lose a lead, so ids are stored and compared whole: in an open-addressing table of hashes and addresses, and the ids one
 * after another in blocks, four bytes at a time. A million UUIDs take about 64 MB, a quarter of a `Set` of strings, and
 * there is no limit of 16.7 million entries.
 */
export class IdSet {
  /**
   * A slot is two words: a hash, and the address of its entry; 0 when the slot is free. At most three of four slots are
   * taken. An entry is a word with its last pass, a word with the length of the id in bytes, then the id, its last word
   * padded with zeros. Its address counts the words of all blocks from 1. `#ends` are the lengths in words of the full
   * blocks, and `#lastEnd` is that of the last one, which counts as full before there is one.
   */
  #slots = new Int32Array(2 << 10);
  readonly #blocks: Int32Array[] = [];
  readonly #ends: number[] = [];
  #lastEnd = blockSize;
  #count = 0;
  #pass = 1;
  /** The buffer of the last id, and its view: many leads are in one buffer. */
  #source: Uint8Array = new Uint8Array();
  #view = new DataView(this.#source.buffer);

  get size(): number {
    return this.#count;
  }

  /** Adds an id from a checkpoint or a bookmark, for which `add` returns `earlier`. */
  preload(id: string): void {
    this.preloadStored(idBytes(id));
  }

  preloadStored(bytes: Uint8Array): void {
    const address = this.#findOrAppend(bytes, 0, bytes.length);
    if (this.#passAt(address) === noPass) this.#setPass(address, 0);
  }

  /** Yields the first `count` ids in the order in which they were added, in the form that `preloadStored` takes. */
  *stored(count: number): Generator<Uint8Array, void, undefined> {
    let remaining = count;
    for (const [i, block] of this.#blocks.entries()) {
      const end = this.#ends[i] ?? this.#lastEnd;
      for (let offset = 0; offset < end && remaining > 0; remaining -= 1) {
        const length = block[offset + 1] as number;
        yield new Uint8Array(block.buffer, (offset + 2) * 4, length);
        offset += entryWords(length);
      }
    }
  }

  has(id: string): boolean {
    return this.passOf(id) !== undefined;
  }

  /** Starts another pass over the same list: for ids added so far, `add` returns `earlier` once more. */
  nextPass(): void {
    this.#pass += 1;
  }

  get pass(): number {
    return this.#pass;
  }

  /** Whether this id was added in that pass or in a later one; preloaded ids belong to pass 0. */
  isMetSince(id: string, pass: number): boolean {
    return (this.passOf(id) ?? noPass) >= pass;
  }

  /** Returns the last pass in which this id was added; 0 for a preloaded id, undefined for an unknown one. */
  passOf(id: string): number | undefined {
    const bytes = storedForm(idBytes(id));
    const slot = this.#slot(this.#hash(bytes, 0, bytes.length), bytes, 0, bytes.length);
    const address = this.#slots[slot + 1] as number;
    return address === 0 ? undefined : this.#passAt(address);
  }

  add(id: string): AddResult {
    const bytes = idBytes(id);
    return this.addBytes(bytes, 0, bytes.length);
  }

  /** Adds an id that is UTF-8 in `buf[start, end)`; `hash` is its element of `hashes`. */
  addBytes(buf: Uint8Array, start: number, end: number, hash?: number): AddResult {
    const address = this.#findOrAppend(buf, start, end, hash);
    const pass = this.#passAt(address);
    this.#setPass(address, this.#pass);
    return pass === noPass ? 'new' : pass === this.#pass ? 'repeat' : 'earlier';
  }

  /**
   * Returns the hashes of the plain ids among these, which are added next. Their slots are read here, as many at once as the
   * processor can: each read in an `add` of its own would wait for memory.
   */
  hashes(leads: readonly PlainId[]): Int32Array {
    const hashes = new Int32Array(leads.length + 1);
    for (let i = 0; i < leads.length; i += 1) {
      const lead = leads[i] as PlainId;
      if (lead.hasPlainId) hashes[i] = this.#hash(lead.source, lead.idStart, lead.idEnd);
    }
    const slots = this.#slots;
    const mask = slots.length - 1;
    let read = 0;
    for (let i = 0; i < leads.length; i += 1)
      read |= slots[(((hashes[i] as number) << 1) & mask) + 1] as number;
    // Without a use of the value, the compiler could omit the reads.
    hashes[leads.length] = read;
    return hashes;
  }

  #findOrAppend(buf: Uint8Array, start: number, end: number, knownHash?: number): number {
    if (end - start > longestId) {
      const digest = storedForm(buf.subarray(start, end));
      return this.#findOrAppend(digest, 0, digest.length);
    }
    const hash = knownHash ?? this.#hash(buf, start, end);
    const slot = this.#slot(hash, buf, start, end);
    const address = this.#slots[slot + 1] as number;
    if (address !== 0) return address;
    const appended = this.#append(buf, start, end);
    this.#slots[slot] = hash;
    this.#slots[slot + 1] = appended;
    this.#count += 1;
    if (this.#count * 8 > this.#slots.length * 3) this.#grow();
    return appended;
  }

  #blockOf(address: number): Int32Array {
    return this.#blocks[Math.floor((address - 1) / blockSize)] as Int32Array;
  }

  #passAt(address: number): number {
    return this.#blockOf(address)[offsetOf(address)] as number;
  }

  #setPass(address: number, pass: number): void {
    this.#blockOf(address)[offsetOf(address)] = pass;
  }

  #viewOf(buf: Uint8Array): DataView {
    if (buf !== this.#source) {
      this.#source = buf;
      this.#view = new DataView(buf.buffer, buf.byteOffset, buf.byteLength);
    }
    return this.#view;
  }

  /** The constants are those of MurmurHash2 and MurmurHash3, and the last three lines the finalizer of the latter. */
  #hash(buf: Uint8Array, start: number, end: number): number {
    const view = this.#viewOf(buf);
    let hash = 0x9747b28c ^ (end - start);
    let i = start;
    for (; i + 4 <= end; i += 4) hash = mixed(hash, view.getInt32(i, true));
    if (i < end) hash = mixed(hash, lastWord(buf, i, end));
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    return hash ^ (hash >>> 16);
  }

  /** Returns the index of the slot of an id; of a missing one, that of the free slot for it. */
  #slot(hash: number, buf: Uint8Array, start: number, end: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = (hash << 1) & mask; ; slot = (slot + 2) & mask) {
      const address = slots[slot + 1] as number;
      if (address === 0 || (slots[slot] === hash && this.#isAt(address, buf, start, end))) return slot;
    }
  }

  #isAt(address: number, buf: Uint8Array, start: number, end: number): boolean {
    const block = this.#blockOf(address);
    let offset = offsetOf(address) + 1;
    if (block[offset] !== end - start) return false;
    const view = this.#viewOf(buf);
    let i = start;
    for (; i + 4 <= end; i += 4) {
      offset += 1;
      if (block[offset] !== view.getInt32(i, true)) return false;
    }
    return i === end || block[offset + 1] === lastWord(buf, i, end);
  }

  #append(buf: Uint8Array, start: number, end: number): number {
    const words = entryWords(end - start);
    if (this.#lastEnd + words > blockSize) {
      if (this.#blocks.length > 0) this.#ends.push(this.#lastEnd);
      this.#blocks.push(new Int32Array(blockSize));
      this.#lastEnd = 0;
    }
    const block = this.#blocks[this.#blocks.length - 1] as Int32Array;
    const view = this.#viewOf(buf);
    const offset = this.#lastEnd;
    block[offset] = noPass;
    block[offset + 1] = end - start;
    let to = offset + 2;
    let i = start;
    for (; i + 4 <= end; i += 4, to += 1) block[to] = view.getInt32(i, true);
    if (i < end) block[to] = lastWord(buf, i, end);
    this.#lastEnd = offset + words;
    return (this.#blocks.length - 1) * blockSize + offset + 1;
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

const offsetOf = (address: number): number => (address - 1) % blockSize;

function lastWord(buf: Uint8Array, from: number, end: number): number {
  let word = 0;
  for (let i = from, shift = 0; i < end; i += 1, shift += 8) word |= (buf[i] as number) << shift;
  return word;
}

const entryWords = (length: number): number => 2 + Math.ceil(length / 4);

function mixed(hash: number, word: number): number {
  const next = Math.imul(hash ^ Math.imul(word, 0xcc9e2d51), 0x5bd1e995);
  return next ^ (next >>> 15);
}

/** A digest never equals the bytes of an id, which start with UTF-8 or with the byte 0xff. */
const storedForm = (id: Uint8Array): Uint8Array =>
  id.length <= longestId ? id : Buffer.concat([Buffer.from([0xfe]), sha256(id)]);

/**
 * Returns the UTF-8 of an id. Text with lone surrogates, which UTF-8 replaces, keeps its UTF-16 units after a
 * byte that never occurs in UTF-8, so that two such ids stay different.
 */
function idBytes(id: string): Uint8Array {
  if (!/[\ud800-\udfff]/u.test(id)) return Buffer.from(id, 'utf8');
  return Buffer.concat([Buffer.from([0xff]), Buffer.from(id, 'utf16le')]);
}

interface Copies {
  mostInPass: number;
  metInPass: number;
  pass: number;
}

/**
 * The records without an id of a walk. Within a pass over the list every record is another one, even with the
 * same bytes; in another pass, the same bytes are the same records. So a record is new where a pass meets more
 * copies of its bytes than any pass before.
 */
export class UnidentifiedRecords {
  readonly #copies = new Map<string, Copies>();
  #pass = 0;

  nextPass(): void {
    this.#pass += 1;
  }

  get size(): number {
    return this.#copies.size;
  }

  /** Adds a record of this pass, and returns whether it is new. */
  add({ bytes }: { readonly bytes: Uint8Array }): boolean {
    const digest = createHash('sha256').update(bytes).digest('base64url');
    const copies = this.#copies.get(digest) ?? { mostInPass: 0, metInPass: 0, pass: this.#pass };
    this.#copies.set(digest, copies);
    if (copies.pass !== this.#pass) {
      copies.metInPass = 0;
      copies.pass = this.#pass;
    }
    copies.metInPass += 1;
    if (copies.metInPass <= copies.mostInPass) return false;
    copies.mostInPass = copies.metInPass;
    return true;
  }
}
