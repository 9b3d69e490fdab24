/** Of charts over time; px. `left` is for the scale, `bottom` for the times. */
export const frame = { height: 180, left: 56, top: 8, bottom: 24 } as const;

const plotHeight = frame.height - frame.top - frame.bottom;

/** Of a share of the scale, 0 at the bottom. */
export const yOf = (share: number): number => frame.top + plotHeight * (1 - share);

/** The left edge of a bucket and its width. */
export function bucketPlace(index: number, count: number, width: number): { x: number; width: number } {
  const each = (width - frame.left) / Math.max(count, 1);
  return { x: frame.left + index * each, width: each };
}
