/**
 * Returns the word that the user probably meant: the only one that begins with the typed text, or one that differs by a slip or two.
 */
export function nearest(typed: string, words: readonly string[]): string | undefined {
  const word = typed.toLowerCase();
  if (word.length < 2) return undefined;
  const begins = words.filter((candidate) => candidate.toLowerCase().startsWith(word));
  if (begins.length === 1) return begins[0];
  const allowed = allowedDistance(word);
  let best: string | undefined;
  let bestDistance = Infinity;
  for (const candidate of words) {
    const distance = editDistance(word, candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return bestDistance <= allowed ? best : undefined;
}

function allowedDistance({ length }: string): number {
  if (length <= 3) return 1;
  return length <= 7 ? 1.5 : 2.5;
}

export function didYouMean(typed: string, words: readonly string[]): string | undefined {
  const word = nearest(typed, words);
  return word === undefined ? undefined : `did you mean '${word}'?`;
}

/**
 * Counts letters to insert, delete, replace, or swap with their neighbour (optimal string alignment). A
 * replaced letter counts one and a half, so that of three letters none is replaced: `get` is no slip of `set`.
 */
function editDistance(from: string, to: string): number {
  let twoAbove: number[] = [];
  let above = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      const swapped =
        row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        (above[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (above[column - 1] ?? 0) + (same ? 0 : 1.5),
        swapped ? (twoAbove[column - 2] ?? 0) + 1 : Infinity,
      );
    }
    [twoAbove, above] = [above, current];
  }
  return above[to.length] ?? Infinity;
}
