import { appendFile } from 'node:fs/promises';
import { withOutputErrors } from '../files/output-error.ts';
import { sanitize } from './terminal/terminal.ts';

/**
 * A line that makes GitHub Actions show a message at the run (docs.github.com, "Workflow commands"). Nothing in the texts
 * can end the command or begin another.
 */
export function annotation(level: 'error' | 'warning' | 'notice', title: string, message: string): string {
  return `::${level} title=${escapeProperty(title)}::${escapeData(message)}`;
}

const escapeData = (text: string): string =>
  withoutCommands(text.split('\n').map(sanitize).join('\n')).replaceAll('%', '%25').replaceAll('\n', '%0A');

const escapeProperty = (text: string): string =>
  escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

/** A table in GitHub's Markdown in which every cell is text, whatever it holds. */
export function markdownTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(escapeCell).join(' | ')} |\n`;
  return [line(heads), `|${heads.map(() => ' --- |').join('')}\n`, ...rows.map(line)].join('');
}

/** Adds to the page of the step; `path` is `GITHUB_STEP_SUMMARY`. Throws an `OutputError`. */
export async function appendToSummary(path: string, markdown: string): Promise<void> {
  await withOutputErrors(path, () => appendFile(path, `${markdown}\n`));
}

const escapeCell = (text: string): string =>
  sanitize(text).replace(/[&<>|`*_[\]\\~#@:!]/g, (character) => `&#${character.charCodeAt(0)};`);

/**
 * The text with every workflow command of GitHub Actions in it broken. A command stands at the beginning of a line, even
 * behind blanks; its older form stands anywhere in a line.
 */
export const withoutCommands = (text: string): string =>
  text.replace(/^([ \t]*):(?=:)/gm, '$1: ').replaceAll('##[', '# #[');
