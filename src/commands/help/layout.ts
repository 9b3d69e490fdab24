import { wrap } from '../../output/terminal/terminal.ts';

type Row = readonly [term: string, text: string];

/** Narrower than this, a text column has room for a few words only. */
const narrowestColumn = 30;

/** Terms on the left, texts on the right; where these get less than `narrowest` columns, each stands under its term. */
export function twoColumns(
  rows: readonly Row[],
  termWidth: number,
  width: number,
  narrowest = narrowestColumn,
): string[] {
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

/** Items side by side behind a label, as many in a line as fit; none is broken. */
export function runningList(label: string, items: readonly string[], width: number): string[] {
  const lines: string[] = [];
  let line = label;
  for (const item of items) {
    if (line.length + 2 + item.length > width && line.length > label.length) {
      lines.push(line);
      line = ' '.repeat(label.length);
    }
    line += line.length === label.length ? ` ${item}` : `  ${item}`;
  }
  return [...lines, line];
}

/** Breaks a command line before an option, a pipe or a redirection, with a backslash, so that it still runs as printed. */
export function shellLines(command: string, width: number): string[] {
  const end = ' \\';
  const first = '  $ ';
  const further = '      ';
  const lines: string[] = [];
  let line = '';
  for (const word of command.split(/ (?=--?[a-z]|[|>])/)) {
    const longer = line === '' ? first + word : `${line} ${word}`;
    if (line !== '' && longer.length + end.length > width) {
      lines.push(line + end);
      line = further + word;
    } else {
      line = longer;
    }
  }
  return [...lines, line];
}
