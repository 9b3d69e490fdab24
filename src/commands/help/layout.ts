import { wrap } from '../../output/terminal/terminal.ts';

export type Row = readonly [term: string, text: string];

/** Writes terms on the left and texts on the right; where texts get less than `narrowest` columns, each is under its term. */
export function twoColumns(rows: readonly Row[], termWidth: number, width: number, narrowest = 30): string[] {
  const textWidth = width - termWidth - 4;
  if (textWidth < narrowest) {
    return rows.flatMap(([term, text]) => [
      `  ${term}`,
      ...(text === '' ? [] : wrap(text, width - 6).map((line) => `      ${line}`)),
    ]);
  }
  return rows.flatMap(([term, text]) =>
    wrap(text, textWidth).map((line, i) => `  ${(i === 0 ? term : '').padEnd(termWidth)}  ${line}`.trimEnd()),
  );
}

/** Writes a label, and behind it as many items as fit in each line. No item is broken. */
export function runningList(label: string, items: readonly string[], width: number): string[] {
  const lines: string[] = [];
  let line = label;
  for (const item of items) {
    const hasItem = line.length > label.length;
    const isFull = hasItem && line.length + 2 + item.length > width;
    if (isFull) lines.push(line);
    const start = isFull ? ' '.repeat(label.length) : line;
    line = hasItem && !isFull ? `${start}  ${item}` : `${start} ${item}`;
  }
  return [...lines, line];
}

/** Breaks a command line before an option, a pipe or a redirection, with a backslash, so that it still runs as printed. */
export function shellLines(command: string, width: number): string[] {
  const prompt = '  $ ';
  const continuation = ' \\';
  const indent = '      ';
  const lines: string[] = [];
  let line = '';
  for (const part of command.split(/ (?=--?[a-z]|[|>])/)) {
    const longer = line === '' ? prompt + part : `${line} ${part}`;
    if (line !== '' && longer.length + continuation.length > width) {
      lines.push(line + continuation);
      line = indent + part;
    } else line = longer;
  }
  return [...lines, line];
}
