import { sha256 } from '../json/bytes.ts';

const digestBytes = 32;

/** Of a leaf's data (RFC 9162, section 2.1.1). */
export const leafHash = (data: Uint8Array): Uint8Array => sha256(Buffer.concat([leafPrefix, data]));

const leafPrefix = Buffer.of(0);

const inner = Buffer.alloc(1 + 2 * digestBytes, 1);

function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  inner.set(left, 1);
  inner.set(right, 1 + digestBytes);
  return sha256(inner);
}

/** Everything of an append-only tree that its next leaf and its root take: the roots of its complete parts, largest first. */
export class CompactRange {
  readonly #nodes: Uint8Array[];
  #size: number;

  /** `bytes`: as `toBytes` gave them for that many leaves. Throws for another number of them. */
  constructor(size = 0, bytes: Uint8Array = new Uint8Array()) {
    this.#size = size;
    this.#nodes = Array.from({ length: bytes.length / digestBytes }, (_, i) =>
      bytes.slice(i * digestBytes, (i + 1) * digestBytes),
    );
    const parts = size.toString(2).replaceAll('0', '').length;
    if (bytes.length !== parts * digestBytes) throw new Error(`no tree of ${size} leaves has these parts`);
  }

  get size(): number {
    return this.#size;
  }

  append(leaf: Uint8Array): void {
    let node = leaf;
    // Each one in the binary number of leaves is a complete part: adding one carries as that number does.
    for (let rest = this.#size; rest % 2 === 1; rest = (rest - 1) / 2) {
      node = nodeHash(this.#nodes.pop() ?? node, node);
    }
    this.#nodes.push(node);
    this.#size += 1;
  }

  root(): Uint8Array {
    const [last, ...rest] = [...this.#nodes].reverse();
    if (last === undefined) return sha256('');
    return rest.reduce((right, left) => nodeHash(left, right), last);
  }

  toBytes(): Uint8Array {
    return Buffer.concat(this.#nodes);
  }
}

/** Leaves from one position up to another, which is left out. */
export type LeafSpan = readonly [from: number, to: number];

/** The largest power of two below that number of leaves. */
function leftPart(size: number): number {
  let part = 1;
  while (part * 2 < size) part *= 2;
  return part;
}

/** The subtrees whose roots prove that the leaf is in a tree of that size, in the order of RFC 9162, section 2.1.3.1. */
export function inclusionSpans(index: number, size: number, start = 0): readonly LeafSpan[] {
  if (size <= 1) return [];
  const part = leftPart(size);
  return index < part
    ? [...inclusionSpans(index, part, start), [start + part, start + size]]
    : [...inclusionSpans(index - part, size - part, start + part), [start, start + part]];
}

/** The same for a smaller tree that the tree of that size began as (section 2.1.4.1). */
export function consistencySpans(
  before: number,
  size: number,
  start = 0,
  isBefore = true,
): readonly LeafSpan[] {
  if (before === 0) return [];
  if (before === size) return isBefore ? [] : [[start, start + size]];
  const part = leftPart(size);
  return before <= part
    ? [...consistencySpans(before, part, start, isBefore), [start + part, start + size]]
    : [...consistencySpans(before - part, size - part, start + part, false), [start, start + part]];
}

/** The roots of subtrees that do not overlap, from leaves that come once and in order. */
export class SubtreeRoots {
  readonly #spans: readonly LeafSpan[];
  readonly #inOrder: readonly { readonly span: LeafSpan; readonly range: CompactRange }[];
  #next = 0;
  #position = 0;

  constructor(spans: readonly LeafSpan[]) {
    this.#spans = spans;
    this.#inOrder = [...spans].sort(([a], [b]) => a - b).map((span) => ({ span, range: new CompactRange() }));
  }

  add(leaf: Uint8Array): void {
    const current = this.#inOrder[this.#next];
    if (current !== undefined && this.#position >= current.span[0]) {
      current.range.append(leaf);
      if (this.#position + 1 === current.span[1]) this.#next += 1;
    }
    this.#position += 1;
  }

  /** In the order of the spans. */
  roots(): readonly Uint8Array[] {
    const found = new Map(this.#inOrder.map(({ span, range }) => [span, range.root()]));
    return this.#spans.flatMap((span) => found.get(span) ?? []);
  }
}

/** The root of the tree in which the proof puts the leaf; undefined for a proof of another length. */
export function rootByInclusion(
  leaf: Uint8Array,
  index: number,
  size: number,
  proof: readonly Uint8Array[],
): Uint8Array | undefined {
  if (index >= size || proof.length !== inclusionSpans(index, size).length) return undefined;
  const last = proof.at(-1);
  if (last === undefined) return leaf;
  const part = leftPart(size);
  const rest = proof.slice(0, -1);
  const isLeft = index < part;
  const below = isLeft
    ? rootByInclusion(leaf, index, part, rest)
    : rootByInclusion(leaf, index - part, size - part, rest);
  return below && (isLeft ? nodeHash(below, last) : nodeHash(last, below));
}

interface TreeHead {
  readonly size: number;
  readonly root: Uint8Array;
}

/** Whether the proof shows that the larger tree began as the smaller one. */
export function isConsistent(before: TreeHead, after: TreeHead, proof: readonly Uint8Array[]): boolean {
  if (before.size > after.size) return false;
  if (proof.length !== consistencySpans(before.size, after.size).length) return false;
  if (before.size === 0) return Buffer.compare(before.root, new CompactRange().root()) === 0;
  const [old, grown] = rootsByConsistency(before, before.size, after.size, proof, true);
  return Buffer.compare(old, before.root) === 0 && Buffer.compare(grown, after.root) === 0;
}

/** The roots that the proof gives for both trees; it has the right length. */
function rootsByConsistency(
  before: TreeHead,
  old: number,
  size: number,
  proof: readonly Uint8Array[],
  isBefore: boolean,
): readonly [Uint8Array, Uint8Array] {
  const last = proof.at(-1) ?? before.root;
  if (old === size) return isBefore ? [before.root, before.root] : [last, last];
  const part = leftPart(size);
  const rest = proof.slice(0, -1);
  if (old <= part) {
    const [left, grown] = rootsByConsistency(before, old, part, rest, isBefore);
    return [left, nodeHash(grown, last)];
  }
  const [right, grown] = rootsByConsistency(before, old - part, size - part, rest, false);
  return [nodeHash(last, right), nodeHash(last, grown)];
}
