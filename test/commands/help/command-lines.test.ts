import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { describeProgram } from '../../../src/commands/help/data/program-data.ts';
import { parseArgv } from '../../../src/parse-argv.ts';
import { commands } from '../../../src/program.ts';

const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
const program = await describeProgram(commands);

/** The words of a command line up to a pipe, a redirection or a comment, as a shell reads them. */
function wordsOf(line: string): string[] {
  const words: string[] = [];
  for (const [token] of line.matchAll(/(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\|<>;&])+|[|<>;&]/g)) {
    if (/^[|<>;&]$/.test(token)) break;
    if (token.startsWith('#')) break;
    words.push(
      token.replace(/'([^']*)'|"([^"]*)"/g, (_, single?: string, double?: string) => single ?? double ?? ''),
    );
  }
  return words;
}

/** Lines of code blocks that begin with `leads `, continued ones as one. */
const readmeLines = readme
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .flatMap((line) => /^ {4}(?:\$ )?(leads .*)$/.exec(line)?.[1] ?? []);

const examples = [
  ...program.topics.flatMap((topic) => topic.examples),
  ...program.commands.flatMap((command) => [command, ...command.commands].flatMap((one) => one.examples)),
];

describe('every printed command line', () => {
  it.each([...new Set([...examples, ...readmeLines])])('%s', async (line) => {
    const [name, ...words] = wordsOf(line);
    expect(name).toBe('leads');
    expect(await parseArgv(words)).toBeDefined();
  });
});

describe('the tables of the README', () => {
  it('name every command with its subcommands, in its group', () => {
    let group = '';
    const rows = readme.split('\n').flatMap((line) => {
      const [, heading = '', terms = ''] =
        /^\| (\w*) *\| (`.*?) *\| [^|]*\|$/.exec(line.replaceAll('\\|', '/')) ?? [];
      if (heading !== '') group = heading;
      return /`(?:leads )?[a-z]/.test(terms) ? [[group, terms] as const] : [];
    });
    for (const command of program.commands) {
      const row = rows.find(
        ([heading, terms]) => heading === command.group && new RegExp(`\\b${command.name}\\b`).test(terms),
      );
      expect(row, command.name).toBeDefined();
      for (const { name } of command.commands) expect(row?.[1]).toContain(name.split(' ')[1]);
    }
  });

  it('name no environment variable that there is not', () => {
    const known = new Set(program.environment.map(({ name }) => name));
    const named = readme.match(/\bLEADS_[A-Z_]+/g) ?? [];
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });
});
