import { searchWords } from '../../wire.ts';

/** More of them in one part of the page are not marked. */
const mostMarks = 1_000;

/** Marks what was searched for in an element, under a name of the style sheet, and gives the marked ranges. */
export function markFound(name: string, element: Element | null, text: string | undefined): readonly Range[] {
  // A browser without it marks nothing.
  if (!('highlights' in CSS)) return [];
  CSS.highlights.delete(name);
  const patterns = searchWords(text ?? '')
    .filter(({ field }) => field !== 'since')
    .map((word) => patternOf(word.text));
  if (element === null || patterns.length === 0) return [];
  const ranges: Range[] = [];
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node !== null && ranges.length < mostMarks; node = texts.nextNode()) {
    for (const pattern of patterns) {
      for (const { 0: found, index } of node.textContent?.matchAll(pattern) ?? []) {
        if (ranges.length === mostMarks) break;
        const range = new Range();
        range.setStart(node, index);
        range.setEnd(node, index + found.length);
        ranges.push(range);
      }
    }
  }
  CSS.highlights.set(name, new Highlight(...ranges));
  return ranges;
}

/** A phone number is found however its digits are grouped. */
function patternOf(word: string): RegExp {
  const digits = word.replace(/\D/g, '').replace(/^00/, '');
  const isPhone = digits.length >= 5 && /^[+\d\s().\-/]+$/.test(word);
  const source = isPhone
    ? digits.replace(/\d(?=\d)/g, '$&[\\s().\\-/]*')
    : word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return new RegExp(source, 'giu');
}
