/** Eight letters and digits: 40 bits. */
export function randomName(random: () => number): string {
  return Array.from({ length: 8 }, () => Math.floor(random() * 32).toString(32)).join('');
}
