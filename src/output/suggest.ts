/**
 * Returns the word that the user probably meant: the only one that begins with the typed text, or else the one with the fewest
 * slips, if these are few. Letter case does not count. Undefined for a single letter.
 */
export function nearest(typed: string, words: readonly string[]): string | undefined {
  const lowerCase = typed.toLowerCase();
  if (lowerCase.length < 2) return undefined;
  const completions = words.filter((word) => word.toLowerCase().startsWith(lowerCase));
  if (completions.length === 1) return completions[0];
  let best: string | undefined;
  let bestDistance = Infinity;
  for (const word of words) {
    const distance = editDistance(lowerCase, word.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [word, distance];
  }
  return bestDistance <= allowedDistance(lowerCase) ? best : undefined;
}

/** Allows one slip in a short word, a replaced letter only from four letters on, and two slips in a long word. */
function allowedDistance({ length }: string): number {
  if (length <= 3) return 1;
  return length <= 7 ? replaceCost : 1 + replaceCost;
}

export function didYouMean(typed: string, words: readonly string[]): string | undefined {
  const word = nearest(typed, words);
  return word === undefined ? undefined : `did you mean '${word}'?`;
}

/** Any other slip costs 1. So of three letters none may be replaced: `get` is no slip of `set`. */
const replaceCost = 1.5;

/**
 * The cost of the slips between two words: a letter that is inserted, deleted, replaced, or swapped with its neighbour (optimal
 * string alignment). Row and column are the number of letters that are compared so far of each word.
 */
function editDistance(from: string, to: string): number {
  let twoAbove: number[] = [];
  let above = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped =
        row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        (above[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (above[column - 1] ?? 0) + (isSame ? 0 : replaceCost),
        isSwapped ? (twoAbove[column - 2] ?? 0) + 1 : Infinity,
      );
    }
    [twoAbove, above] = [above, current];
  }
  return above[to.length] ?? Infinity;
}
