/** Lines of at most `width` columns, broken between words only; a longer word stands alone. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    let line = '';
    for (const word of paragraph.split(' ')) {
      if (line !== '' && line.length + 1 + word.length > width) {
        lines.push(line);
        line = word;
      } else {
        line = line === '' ? word : `${line} ${word}`;
      }
    }
    lines.push(line);
  }
  return lines;
}

type Row = readonly [term: string, text: string];

/** Narrower than this, a text column has room for a few words only. */
const narrowestColumn = 30;

/** Terms on the left, texts on the right; on a narrow screen each text stands under its term. */
export function twoColumns(rows: readonly Row[], termWidth: number, width: number): string[] {
  const textWidth = width - termWidth - 4;
  if (textWidth < narrowestColumn) {
    return rows.flatMap(([term, text]) => [
      `  ${term}`,
      ...(text === '' ? [] : wrap(text, width - 6).map((line) => `      ${line}`)),
    ]);
  }
  return rows.flatMap(([term, text]) =>
    wrap(text, textWidth).map((line, i) => `  ${(i === 0 ? term : '').padEnd(termWidth)}  ${line}`.trimEnd()),
  );
}

/** Items side by side behind a label, as many in a line as fit; none is broken. */
export function runningList(label: string, items: readonly string[], width: number): string[] {
  const lines: string[] = [];
  let line = label;
  for (const item of items) {
    if (line.length + 2 + item.length > width && line.trim() !== label.trim()) {
      lines.push(line);
      line = ' '.repeat(label.length);
    }
    line += line.length === label.length ? ` ${item}` : `  ${item}`;
  }
  return [...lines, line];
}
