import { appendFile } from 'node:fs/promises';
import { withOutputErrors } from '../../files/output-error.ts';
import { sanitize } from '../sanitize.ts';

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
