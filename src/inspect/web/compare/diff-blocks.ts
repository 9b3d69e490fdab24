import type { WireDiffLine } from '../../wire.ts';

export interface DiffBlock {
  /** The index of its first line. */
  readonly from: number;
  readonly rows: readonly WireDiffLine[];
  readonly isFolded: boolean;
}

/** Equal lines that are shown beside a difference. */
const context = 3;

/** Fewer are not worth folding. */
const fewestFolded = 4;

/** Lines in order, the equal ones that are far from any difference as blocks of their own. */
export function diffBlocks(lines: readonly WireDiffLine[]): DiffBlock[] {
  const isNear = new Array<boolean>(lines.length).fill(false);
  for (const [i, { kind }] of lines.entries()) {
    if (kind !== 'same') isNear.fill(true, Math.max(0, i - context), i + context + 1);
  }
  const blocks: DiffBlock[] = [];
  let from = 0;
  for (let end = 1; end <= lines.length; end++) {
    if (end < lines.length && isNear[end] === isNear[from]) continue;
    const rows = lines.slice(from, end);
    blocks.push({ from, rows, isFolded: isNear[from] === false && rows.length >= fewestFolded });
    from = end;
  }
  return blocks;
}
