import { searchWords } from '../../wire.ts';

/** More of them in one part of the page are not marked. */
const mostMarks = 1_000;

/** Marks what was searched for in an element, under a name of the style sheet, and gives the marked ranges. */
export function markFound(name: string, element: Element | null, text: string | undefined): readonly Range[] {
  // A browser without it marks nothing.
  if (!('highlights' in CSS)) return [];
  CSS.highlights.delete(name);
  const words = searchWords(text ?? '')
    .filter(({ field }) => field !== 'since')
    .map((word) => word.text.toLowerCase());
  if (element === null || words.length === 0) return [];
  const ranges: Range[] = [];
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node !== null && ranges.length < mostMarks; node = texts.nextNode()) {
    const lower = node.textContent?.toLowerCase() ?? '';
    // A letter whose small form is of another length would shift what is marked behind it.
    if (lower.length !== node.textContent?.length) continue;
    for (const word of words) {
      for (let at = lower.indexOf(word); at !== -1; at = lower.indexOf(word, at + word.length)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        ranges.push(range);
      }
    }
  }
  CSS.highlights.set(name, new Highlight(...ranges));
  return ranges;
}
