import { createHash } from 'node:crypto';

/** Whether an added id is new, was added in an earlier pass (or preloaded), or was added in this pass before. */
export type AddResult = 'new' | 'earlier' | 'repeat';

/** A record whose id, if it has a plain one, is UTF-8 in `source[idStart, idEnd)`. */
export interface PlainId {
  readonly hasPlainId: boolean;
  readonly source: Uint8Array;
  readonly idStart: number;
  readonly idEnd: number;
}

/** In words of 32 bits. A page of leads needs one block, which must not take more memory than the page. */
const blockSize = 1 << 14;
/** In bytes. Of longer ids only a digest is stored, so that every entry fits into a block. */
const longestId = 4096;
const lastPass = 0xffff;

/**
 * The ids of the leads listed so far. A false duplicate would lose a lead, so ids are stored and compared whole: in an
 * open-addressing table of hashes and addresses, and the ids one after another in blocks, four bytes at a time. A million
 * UUIDs take about 60 MB, a quarter of a `Set` of strings, and there is no limit of 16.7 million entries.
 */
export class IdSet {
  /** For each slot a hash, and the address of its entry in words plus one; 0 when the slot is free. */
  #slots = new Int32Array(2 << 10);
  /** An entry is the pass and the length in one word, then the id, its last word padded with zeros. */
  readonly #blocks: Int32Array[] = [];
  /** Words in use of each block but the last. */
  readonly #ends: number[] = [];
  #used = blockSize;
  #count = 0;
  /** As entries store it: less `#passesBefore`. */
  #pass = 1;
  #passesBefore = 0;
  /** The buffer of the last id, and its view: many leads are in one buffer. */
  #source: Uint8Array = new Uint8Array();
  #view = new DataView(this.#source.buffer);

  get size(): number {
    return this.#count;
  }

  /** Adds an id that is known from a checkpoint or a bookmark: adding it again gives `earlier`. */
  preload(id: string): void {
    const bytes = idBytes(id);
    this.#add(bytes, 0, bytes.length, 0);
  }

  /** The first so many ids in the order in which they were added, in the form that `preloadStored` takes. */
  *stored(count: number): Generator<Uint8Array, void, undefined> {
    let left = count;
    for (const [i, block] of this.#blocks.entries()) {
      const end = this.#ends[i] ?? this.#used;
      for (let at = 0; at < end && left > 0; left -= 1) {
        const length = lengthIn(block[at] as number);
        yield new Uint8Array(block.buffer, (at + 1) * 4, length);
        at += 1 + Math.ceil(length / 4);
      }
    }
  }

  /** Adds an id that `stored` has given, as `preload` does. */
  preloadStored(bytes: Uint8Array): void {
    this.#add(bytes, 0, bytes.length, 0);
  }

  has(id: string): boolean {
    const bytes = idBytes(id);
    return this.#find(bytes, 0, bytes.length) !== undefined;
  }

  /** Starts another pass over the same list: for ids added so far, `add` gives `earlier` once more. */
  nextPass(): void {
    if (this.#pass === lastPass) this.#forgetOldPasses();
    this.#pass += 1;
  }

  /** The number of the pass that is under way, for `isMetSince`. */
  get pass(): number {
    return this.#passesBefore + this.#pass;
  }

  /** Whether this id was added in that pass or in a later one; ids that were preloaded belong to pass 0. */
  isMetSince(id: string, pass: number): boolean {
    const bytes = idBytes(id);
    const header = this.#find(bytes, 0, bytes.length);
    return header !== undefined && header >>> 16 >= pass - this.#passesBefore;
  }

  /** The pass in which this id was last added; 0 for one that was preloaded, undefined for one that is not there. */
  passOf(id: string): number | undefined {
    const bytes = idBytes(id);
    const header = this.#find(bytes, 0, bytes.length);
    if (header === undefined) return undefined;
    const pass = header >>> 16;
    return pass === 0 ? 0 : pass + this.#passesBefore;
  }

  add(id: string): AddResult {
    const bytes = idBytes(id);
    return this.#add(bytes, 0, bytes.length, this.#pass);
  }

  /** The same for an id that is UTF-8 in `buf[start, end)`, and whose hash is one of `hashes`, if it is given. */
  addBytes(buf: Uint8Array, start: number, end: number, hash?: number): AddResult {
    return this.#add(buf, start, end, this.#pass, hash);
  }

  /**
   * The hashes of the plain ids among these, which are added next. Their slots are read here, as many at once as the
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
    // Only because a read whose value nothing needs may be left out.
    hashes[leads.length] = read;
    return hashes;
  }

  /** Polls go on for years: what was added in the older half of the passes becomes as if it were preloaded. */
  #forgetOldPasses(): void {
    const forgotten = lastPass >>> 1;
    for (const [i, block] of this.#blocks.entries()) {
      const end = this.#ends[i] ?? this.#used;
      for (let at = 0; at < end;) {
        const header = block[at] as number;
        const length = lengthIn(header);
        block[at] = headerOf(Math.max(0, (header >>> 16) - forgotten), length);
        at += 1 + Math.ceil(length / 4);
      }
    }
    this.#pass -= forgotten;
    this.#passesBefore += forgotten;
  }

  #add(buf: Uint8Array, start: number, end: number, pass: number, known?: number): AddResult {
    if (end - start > longestId) {
      const short = digestOf(buf.subarray(start, end));
      return this.#add(short, 0, short.length, pass);
    }
    const hash = known ?? this.#hash(buf, start, end);
    const slot = this.#slot(hash, buf, start, end);
    const address = this.#slots[slot + 1] as number;
    if (address === 0) {
      this.#slots[slot] = hash;
      this.#slots[slot + 1] = this.#append(buf, start, end, pass);
      this.#count += 1;
      if (this.#count * 8 > this.#slots.length * 3) this.#grow();
      return 'new';
    }
    if (pass === 0) return 'earlier';
    const block = this.#blocks[Math.floor((address - 1) / blockSize)] as Int32Array;
    const offset = (address - 1) % blockSize;
    const header = block[offset] as number;
    block[offset] = headerOf(pass, lengthIn(header));
    return header >>> 16 === pass ? 'repeat' : 'earlier';
  }

  /** The header of the entry of an id; undefined where there is none. */
  #find(buf: Uint8Array, start: number, end: number): number | undefined {
    if (end - start > longestId) {
      const short = digestOf(buf.subarray(start, end));
      return this.#find(short, 0, short.length);
    }
    const slot = this.#slot(this.#hash(buf, start, end), buf, start, end);
    const address = this.#slots[slot + 1] as number;
    if (address === 0) return undefined;
    return (this.#blocks[Math.floor((address - 1) / blockSize)] as Int32Array)[(address - 1) % blockSize];
  }

  #viewOf(buf: Uint8Array): DataView {
    if (buf !== this.#source) {
      this.#source = buf;
      this.#view = new DataView(buf.buffer, buf.byteOffset, buf.byteLength);
    }
    return this.#view;
  }

  /** The mixing of MurmurHash3, one word at a time. */
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

  /** The slot of an id, or the free slot where it belongs. */
  #slot(hash: number, buf: Uint8Array, start: number, end: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = (hash << 1) & mask; ; slot = (slot + 2) & mask) {
      const address = slots[slot + 1] as number;
      if (address === 0 || (slots[slot] === hash && this.#isAt(address, buf, start, end))) return slot;
    }
  }

  #isAt(address: number, buf: Uint8Array, start: number, end: number): boolean {
    const block = this.#blocks[Math.floor((address - 1) / blockSize)] as Int32Array;
    let at = (address - 1) % blockSize;
    if (lengthIn(block[at] as number) !== end - start) return false;
    const view = this.#viewOf(buf);
    let i = start;
    for (; i + 4 <= end; i += 4) {
      at += 1;
      if (block[at] !== view.getInt32(i, true)) return false;
    }
    return i === end || block[at + 1] === lastWord(buf, i, end);
  }

  /** Keeps an id as an entry; returns its address. */
  #append(buf: Uint8Array, start: number, end: number, pass: number): number {
    const words = 1 + Math.ceil((end - start) / 4);
    if (this.#used + words > blockSize) {
      if (this.#blocks.length > 0) this.#ends.push(this.#used);
      this.#blocks.push(new Int32Array(blockSize));
      this.#used = 0;
    }
    const block = this.#blocks[this.#blocks.length - 1] as Int32Array;
    const view = this.#viewOf(buf);
    const offset = this.#used;
    block[offset] = headerOf(pass, end - start);
    let to = offset + 1;
    let i = start;
    for (; i + 4 <= end; i += 4, to += 1) block[to] = view.getInt32(i, true);
    if (i < end) block[to] = lastWord(buf, i, end);
    this.#used = offset + words;
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

/** The last bytes of an id, padded with zeros. */
function lastWord(buf: Uint8Array, from: number, end: number): number {
  let word = 0;
  for (let i = from, shift = 0; i < end; i += 1, shift += 8) word |= (buf[i] as number) << shift;
  return word;
}

const headerOf = (pass: number, length: number): number => (pass << 16) | length;
const lengthIn = (header: number): number => header & 0xffff;

function mixed(hash: number, word: number): number {
  const next = Math.imul(hash ^ Math.imul(word, 0xcc9e2d51), 0x5bd1e995);
  return next ^ (next >>> 15);
}

/** Never equal to the bytes of an id: these start with UTF-8 or with the byte 0xff. */
function digestOf(id: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from([0xfe]), createHash('sha256').update(id).digest()]);
}

/**
 * The bytes that identify an id: its UTF-8. Text with lone surrogates, which UTF-8 replaces, keeps its UTF-16 units after a
 * byte that never occurs in UTF-8, so that two such ids stay different.
 */
function idBytes(id: string): Uint8Array {
  if (!/[\ud800-\udfff]/u.test(id)) return Buffer.from(id, 'utf8');
  return Buffer.concat([Buffer.from([0xff]), Buffer.from(id, 'utf16le')]);
}

interface Copies {
  /** In all passes, at most as many as one pass brought. */
  handedOut: number;
  met: number;
  /** The pass that `met` counts. */
  pass: number;
}

/**
 * The records without an id of one walk. Within one pass over the list each is another record, even where their bytes are
 * the same; when the list is read again, the same bytes are the same records.
 */
export class Unidentified {
  readonly #copies = new Map<string, Copies>();
  #pass = 0;

  /** The list, or a part of it, is read again. */
  nextPass(): void {
    this.#pass += 1;
  }

  /** Different records so far. */
  get size(): number {
    return this.#copies.size;
  }

  /** Whether the record was not handed out in an earlier pass. */
  isNew({ bytes }: { readonly bytes: Uint8Array }): boolean {
    const digest = createHash('sha256').update(bytes).digest('base64url');
    const copies = this.#copies.get(digest) ?? { handedOut: 0, met: 0, pass: this.#pass };
    this.#copies.set(digest, copies);
    if (copies.pass !== this.#pass) Object.assign(copies, { met: 0, pass: this.#pass });
    copies.met += 1;
    if (copies.met <= copies.handedOut) return false;
    copies.handedOut = copies.met;
    return true;
  }
}
