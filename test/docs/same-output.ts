/**
 * What differs from run to run: times, ids, amounts, addresses and folders. What is left of a lead's row is that it is one.
 * A forward names its lead only when another line was drawn in between, which a busy machine decides.
 */
const shape = (line: string): string =>
  line
    .replace(/^ +(lead_\w+ +)?forward: /, '  forward: ')
    .replace(/^(\S+Z +\w+ +|(?:refused|missing) +)?(lead_\w+) .*/, '$1$2')
    .replace(/^(?!accepted|duplicate|rejected)[\w-]+ +\d+ +\d+% +.*/, 'a category')
    .replace(/^API key:.*/, 'API key:')
    .replace(/^(\d+) +\d+ms +\S+ +\{.*/, '$1 sent')
    .replace(/(vertical=|category ')[\w-]+/g, '$1NAME')
    .replace(/\b(warning)s?\b/g, '$1')
    .replace(/https?:\/\/[^\s,]+/g, 'URL')
    .replace(/(?:~|\/)[\w.~-]*\/[\w./~-]+/g, 'PATH')
    .replace(/\d{4}-\d\d-\d\d[T ][\d:.]+Z?|\b[\d:]+Z\b/g, 'TIME')
    .replace(/lead_\w+/g, 'lead_ID')
    .replace(/[\w.]+@[\w.]+/g, 'EMAIL')
    .replace(/[█▌▊▎▍▋▉▏]+/g, '')
    .replace(/\d[\d.,]*(?:ms|s|m|h|d|%)?(?: \d+[smh]\b)?/g, 'N')
    .replace(/\s+/g, ' ')
    .trim();

/** Printed lines that the real output does not have; `…` stands for any text. */
export function absentLines(printed: readonly string[], real: string): readonly string[] {
  const shapes = real.split('\n').map(shape);
  return printed.filter((line) => {
    const wanted = shape(line);
    if (wanted === '' || wanted === '…' || wanted === '^C') return false;
    const parts = wanted.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    const pattern = new RegExp(`^${parts.join('.*')}$`);
    return !shapes.some((one) => pattern.test(one));
  });
}
