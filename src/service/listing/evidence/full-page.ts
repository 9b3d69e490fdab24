const usualCaps = [10, 20, 25, 50, 100, 200, 250, 500];

/** Whether `count` is a number at which services cut their pages. */
export const isUsualCap = (count: number): boolean =>
  usualCaps.includes(count) || (count > 0 && count % 1000 === 0);

/** Whether a page of `count` may have been cut: at the size that was sent, or at a usual cap below it. */
export const looksFull = (count: number, pageSize: number | undefined): boolean =>
  count > 0 && (count === pageSize || ((pageSize === undefined || count <= pageSize) && isUsualCap(count)));
