/**
 * Wraps a text to lines of at most `width` columns, between words only; a longer word gets its own line.
 * Indentation stays.
 */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    const indent = /^ */.exec(paragraph)?.[0] ?? '';
    let line = indent;
    for (const word of paragraph.trimStart().split(' ')) {
      if (line !== indent && line.length + 1 + word.length > width) {
        lines.push(line);
        line = indent + word;
      } else {
        line = line === indent ? indent + word : `${line} ${word}`;
      }
    }
    lines.push(line);
  }
  return lines;
}
