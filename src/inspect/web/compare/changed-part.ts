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
