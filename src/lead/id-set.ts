import { createHash } from 'node:crypto';
import { sha256 } from '../json/bytes.ts';

/** `earlier` means an earlier pass or a preloaded id, `repeat` the current pass. */
export type AddResult = 'new' | 'earlier' | 'repeat';

/** A slot has the hash of an id, the address of its entry, and the last pass in which it was met. */
const slot = { hash: 0, address: 1, pass: 2, size: 3 } as const;

/** Passes: that of a slot without an id, and that of an id from a checkpoint or a bookmark. */
const unmet = 0;
const preloaded = 1;

/** The bytes of a block. A page of leads needs one block, which must not take more memory than the page. */
const blockSize = 1 << 16;
/** The bytes of an entry before the id: they hold its length. */
const headSize = 2;
const longestId = 4096;

/**
 * The ids of the leads listed so far. A false duplicate would lose a lead, so ids are stored and compared whole: in an
 * open-addressing table, and the ids one after another in blocks. With a `Map`, a million UUIDs take twice the memory, and
 * an export takes a fifth more time.
 */
export class IdSet {
  #slots = new Uint32Array(slot.size << 10);
  readonly #blocks: Uint8Array[] = [];
  /** The end of the last entry in each block. */
  readonly #ends: number[] = [];
  #count = 0;
  #pass = preloaded + 1;

  get size(): number {
    return this.#count;
  }

  /** Adds an id from a checkpoint or a bookmark: adding it again returns `earlier`. */
  preload(id: string): void {
    this.preloadStored(idBytes(id));
  }

  preloadStored(bytes: Uint8Array): void {
    const id = storedForm(bytes);
    const slotIndex = this.#insert(id, 0, id.length);
    if (this.#slots[slotIndex + slot.pass] === unmet) this.#slots[slotIndex + slot.pass] = preloaded;
  }

  /** Yields the first `count` ids in the order in which they were added, in the form that `preloadStored` takes. */
  *stored(count: number): Generator<Uint8Array, void, undefined> {
    let remaining = count;
    for (const [i, block] of this.#blocks.entries()) {
      for (let offset = 0; offset < (this.#ends[i] as number) && remaining > 0; remaining -= 1) {
        const start = offset + headSize;
        offset = start + lengthAt(block, offset);
        yield block.subarray(start, offset);
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

  /** Whether this id was added in that pass or in a later one; preloaded ids belong to a pass before the first. */
  isMetSince(id: string, pass: number): boolean {
    return (this.passOf(id) ?? unmet) >= pass;
  }

  /** Returns the last pass in which this id was added; undefined for an unknown one. */
  passOf(id: string): number | undefined {
    const bytes = storedForm(idBytes(id));
    const slotIndex = this.#slotOf(hashOf(bytes, 0, bytes.length), bytes, 0, bytes.length);
    const pass = this.#slots[slotIndex + slot.pass];
    return pass === unmet ? undefined : pass;
  }

  add(id: string): AddResult {
    const bytes = idBytes(id);
    return this.addBytes(bytes, 0, bytes.length);
  }

  /** Adds an id that is UTF-8 in `buf[start, end)`. */
  addBytes(buf: Uint8Array, start: number, end: number): AddResult {
    if (end - start > longestId) {
      const digest = storedForm(buf.subarray(start, end));
      return this.addBytes(digest, 0, digest.length);
    }
    const slotIndex = this.#insert(buf, start, end);
    const pass = this.#slots[slotIndex + slot.pass];
    this.#slots[slotIndex + slot.pass] = this.#pass;
    return pass === unmet ? 'new' : pass === this.#pass ? 'repeat' : 'earlier';
  }

  /** Returns the slot of an id; a missing one is appended, and is unmet then. */
  #insert(buf: Uint8Array, start: number, end: number): number {
    if (this.#count * 4 * slot.size > this.#slots.length * 3) this.#grow();
    const hash = hashOf(buf, start, end);
    const slotIndex = this.#slotOf(hash, buf, start, end);
    if (this.#slots[slotIndex + slot.pass] !== unmet) return slotIndex;
    this.#slots[slotIndex + slot.hash] = hash;
    this.#slots[slotIndex + slot.address] = this.#append(buf, start, end);
    this.#count += 1;
    return slotIndex;
  }

  /** Returns the slot of an id, or the free one where it belongs. */
  #slotOf(hash: number, buf: Uint8Array, start: number, end: number): number {
    const slots = this.#slots;
    for (let i = firstSlot(slots, hash); ; i = nextSlot(slots, i)) {
      if (slots[i + slot.pass] === unmet) return i;
      if (slots[i + slot.hash] === hash && this.#isAt(slots[i + slot.address] as number, buf, start, end))
        return i;
    }
  }

  #isAt(address: number, buf: Uint8Array, start: number, end: number): boolean {
    const block = this.#blocks[Math.floor(address / blockSize)] as Uint8Array;
    const offset = address % blockSize;
    if (lengthAt(block, offset) !== end - start) return false;
    const shift = offset + headSize - start;
    for (let i = start; i < end; i += 1) if (block[i + shift] !== buf[i]) return false;
    return true;
  }

  /** Returns the address of the new entry. */
  #append(buf: Uint8Array, start: number, end: number): number {
    const size = headSize + end - start;
    if (this.#blocks.length === 0 || (this.#ends.at(-1) as number) + size > blockSize) {
      this.#blocks.push(new Uint8Array(blockSize));
      this.#ends.push(0);
    }
    const last = this.#blocks.length - 1;
    const block = this.#blocks[last] as Uint8Array;
    const offset = this.#ends[last] as number;
    block[offset] = (end - start) & 0xff;
    block[offset + 1] = (end - start) >> 8;
    const shift = offset + headSize - start;
    for (let i = start; i < end; i += 1) block[i + shift] = buf[i] as number;
    this.#ends[last] = offset + size;
    return last * blockSize + offset;
  }

  #grow(): void {
    const old = this.#slots;
    const slots = new Uint32Array(old.length * 2);
    for (let i = 0; i < old.length; i += slot.size) {
      if (old[i + slot.pass] === unmet) continue;
      let free = firstSlot(slots, old[i + slot.hash] as number);
      while (slots[free + slot.pass] !== unmet) free = nextSlot(slots, free);
      for (let word = 0; word < slot.size; word += 1) slots[free + word] = old[i + word] as number;
    }
    this.#slots = slots;
  }
}

const firstSlot = (slots: Uint32Array, hash: number): number =>
  (hash % (slots.length / slot.size)) * slot.size;

const nextSlot = (slots: Uint32Array, index: number): number =>
  index + slot.size === slots.length ? 0 : index + slot.size;

const lengthAt = (block: Uint8Array, offset: number): number =>
  (block[offset] as number) | ((block[offset + 1] as number) << 8);

/** FNV-1a (draft-eastlake-fnv), whose high bits are mixed into the low ones. */
export function hashOf(buf: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let i = start; i < end; i += 1) hash = Math.imul(hash ^ (buf[i] as number), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
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
  delivered: number;
  metInPass: number;
  pass: number;
}

/**
 * The records without an id of a walk. Within a pass over the list every record is another one, even with the
 * same bytes; in another pass, the same bytes are the same records.
 */
export class Unidentified {
  readonly #copies = new Map<string, Copies>();
  #pass = 0;

  nextPass(): void {
    this.#pass += 1;
  }

  get size(): number {
    return this.#copies.size;
  }

  /** Returns false for a record of an earlier pass. */
  isNew({ bytes }: { readonly bytes: Uint8Array }): boolean {
    const digest = createHash('sha256').update(bytes).digest('base64url');
    const copies = this.#copies.get(digest) ?? { delivered: 0, metInPass: 0, pass: this.#pass };
    this.#copies.set(digest, copies);
    if (copies.pass !== this.#pass) {
      copies.metInPass = 0;
      copies.pass = this.#pass;
    }
    copies.metInPass += 1;
    if (copies.metInPass <= copies.delivered) return false;
    copies.delivered = copies.metInPass;
    return true;
  }
}
