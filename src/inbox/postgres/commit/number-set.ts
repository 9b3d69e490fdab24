/** Numbers as an `int8multirange` of PostgreSQL: neighbours are one range. */
export function multirangeOf(numbers: readonly number[]): string {
  const ranges: [start: number, end: number][] = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && number <= last[1]) last[1] = Math.max(last[1], number + 1);
    else ranges.push([number, number + 1]);
  }
  return `{${ranges.map(([start, end]) => `[${start},${end})`).join()}}`;
}

/** Whether a multirange, as the database writes it, holds a number. */
export function hasNumber(multirange: string, number: number): boolean {
  for (const [, start, end] of multirange.matchAll(/\[(\d+),(\d+)\)/g)) {
    if (number >= Number(start) && number < Number(end)) return true;
  }
  return false;
}
