import { readFileSync } from 'node:fs';
import type { ProgramData } from '../../src/commands/help/help-data.ts';

export const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

/** Lines of code blocks that begin with `leads `, continued ones as one. */
const readmeLines = readme
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .flatMap((line) => /^ {4}(?:\$ )?(leads .*)$/.exec(line)?.[1] ?? []);

/** Every command line of help, of the manual pages, which have the same, and of the README, each once. */
export function printedLines({ topics, commands }: ProgramData): readonly string[] {
  const described = commands.flatMap((command) => [command, ...command.commands]);
  const examples = [...topics, ...described].flatMap((one) => one.examples);
  return [...new Set([...examples, ...readmeLines])];
}

export interface ShellLine {
  readonly words: readonly string[];
  /** The file of `< FILE`. */
  readonly stdin: string | undefined;
}

/** The words of a command line up to a pipe, a redirection or a comment, as a shell reads them. */
export function readShellLine(line: string): ShellLine {
  const words: string[] = [];
  const tokens = [...line.matchAll(/(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\|<>;&])+|[|<>;&]/g)].map(
    ([token]) => token,
  );
  for (const token of tokens) {
    if (/^[|<>;&#]/.test(token)) break;
    words.push(
      token.replace(/'([^']*)'|"([^"]*)"/g, (_, single?: string, double?: string) => single ?? double ?? ''),
    );
  }
  return { words, stdin: tokens.includes('<') ? tokens[tokens.indexOf('<') + 1] : undefined };
}
