import { describe, expect, it } from 'vitest';
import {
  CompactRange,
  consistencySpans,
  inclusionSpans,
  isConsistent,
  leafHash,
  type LeafSpan,
  rootByInclusion,
  SubtreeRoots,
} from '../../src/statement/merkle-tree.ts';

/** The vectors that implementations of RFC 6962 and RFC 9162 share. */
const inputs = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
];
const roots = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

const leaves = Array.from({ length: 70 }, (_, i) => leafHash(Buffer.of(i)));

function treeOf(size: number): CompactRange {
  const tree = new CompactRange();
  for (const leaf of leaves.slice(0, size)) tree.append(leaf);
  return tree;
}

function proofOf(spans: readonly LeafSpan[], size: number): readonly Uint8Array[] {
  const proof = new SubtreeRoots(spans);
  for (const leaf of leaves.slice(0, size)) proof.add(leaf);
  return proof.roots();
}

const otherRoot = leafHash(Buffer.from('another'));

describe('the tree', () => {
  it('has the roots of the published vectors, and goes on from its stored parts', () => {
    let tree = new CompactRange();
    const found = [hex(tree.root())];
    for (const input of inputs) {
      tree = new CompactRange(tree.size, tree.toBytes());
      tree.append(leafHash(Buffer.from(input, 'hex')));
      found.push(hex(tree.root()));
    }
    expect(found).toEqual(roots);
    expect(() => new CompactRange(3, tree.toBytes())).toThrow('no tree of 3 leaves');
  });

  it('has the published proofs', () => {
    const data = inputs.map((input) => leafHash(Buffer.from(input, 'hex')));
    const proof = (spans: readonly LeafSpan[]): string[] => {
      const found = new SubtreeRoots(spans);
      for (const leaf of data) found.add(leaf);
      return found.roots().map(hex);
    };
    expect(proof(inclusionSpans(0, 8))).toEqual([
      '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
    ]);
    expect(proof(consistencySpans(6, 8))).toEqual([
      '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ]);
  });

  it('proves every leaf of every size, and no other one', () => {
    for (let size = 1; size <= 20; size += 1) {
      const root = hex(treeOf(size).root());
      for (let index = 0; index < size; index += 1) {
        const proof = proofOf(inclusionSpans(index, size), size);
        const rootWith = (leaf = leafHash(Buffer.of(200))): string =>
          hex(rootByInclusion(leaf, index, size, proof) ?? Buffer.alloc(0));
        expect(rootWith(leaves[index])).toBe(root);
        expect(rootWith()).not.toBe(root);
        expect(
          rootByInclusion(leaves[index] ?? otherRoot, index, size, [...proof, otherRoot]),
        ).toBeUndefined();
      }
    }
  });

  it('proves that every smaller tree was its beginning, and no other tree', () => {
    const headOf = (size: number) => ({ size, root: treeOf(size).root() });
    for (let size = 0; size <= 20; size += 1) {
      for (let before = 0; before <= size; before += 1) {
        const proof = proofOf(consistencySpans(before, size), size);
        expect(isConsistent(headOf(before), headOf(size), proof)).toBe(true);
        expect(isConsistent({ size: before, root: otherRoot }, headOf(size), proof)).toBe(false);
        if (before > 0 && before < size) {
          expect(isConsistent(headOf(before), { size, root: otherRoot }, proof)).toBe(false);
          expect(isConsistent(headOf(before), headOf(size), proof.slice(1))).toBe(false);
        }
      }
    }
    expect(isConsistent(headOf(3), headOf(2), [])).toBe(false);
  });
});
