import { readdirSync, readFileSync } from 'node:fs';
import type { ProgramData } from '../../src/commands/help/help-data.ts';

const root = new URL('../../', import.meta.url);
const paths = ['README.md', ...readdirSync(new URL('docs/', root)).map((name) => `docs/${name}`)];

/** The README and the pages of docs/, as they are written. */
export const pages = paths
  .filter((path) => path.endsWith('.md'))
  .map((path) => ({ path, text: readFileSync(new URL(path, root), 'utf8') }));

export interface Block {
  /** What it is: the first word behind the fence. */
  readonly kind: string;
  /** The words behind that. */
  readonly marks: readonly string[];
  readonly code: string;
}

/** The fenced blocks of a page. */
export const blocksOf = (text: string): readonly Block[] =>
  [...text.matchAll(/^```(\S*)(.*)\n([^]*?)^```$/gm)].map(([, kind = '', marks = '', code = '']) => ({
    kind,
    marks: marks.split(' ').filter(Boolean),
    code,
  }));

/** The command lines of a block, continued ones as one. */
export const commandsOf = ({ kind, code }: Block): readonly string[] => {
  const lines = code.replaceAll(/\\\n\s*/g, '').split('\n');
  if (kind === 'sh') return lines.filter((line) => line !== '');
  return kind === 'console' ? lines.flatMap((line) => /^\$ (.*)$/.exec(line)?.[1] ?? []) : [];
};

const printedByPages = pages
  .flatMap(({ text }) => blocksOf(text).flatMap(commandsOf))
  .filter((line) => line.startsWith('leads '));

/** Every command line of help, of the manual pages, which have the same, and of the README and docs/, each once. */
export function printedLines({ topics, commands }: ProgramData): readonly string[] {
  const described = commands.flatMap((command) => [command, ...command.commands]);
  const examples = [...topics, ...described].flatMap((one) => one.examples);
  return [...new Set([...examples, ...printedByPages])];
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
