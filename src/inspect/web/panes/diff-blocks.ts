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

/** What stands before, in and after the part of a text that another one has not. */
export function changedPart(text: string, other: string): [before: string, changed: string, after: string] {
  const [letters, others] = [Array.from(text), Array.from(other)];
  const most = Math.min(letters.length, others.length);
  let start = 0;
  while (start < most && letters[start] === others[start]) start++;
  let end = 0;
  while (end < most - start && letters.at(-1 - end) === others.at(-1 - end)) end++;
  const part = (from: number, to: number): string => letters.slice(from, to).join('');
  return [part(0, start), part(start, letters.length - end), part(letters.length - end, letters.length)];
}
