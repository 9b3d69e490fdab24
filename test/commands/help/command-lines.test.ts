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

/** Cells of the rows below a table's heading, without the padding. */
function tableBelow(heading: RegExp): readonly (readonly string[])[] {
  const lines = readme.split('\n');
  const start = lines.findIndex((line) => heading.test(line));
  const rows = lines.slice(start + 2);
  return rows.slice(0, rows.indexOf('')).map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

describe('the tables of the README', () => {
  it('are the commands of help --json', () => {
    const rows = program.commands.map(({ group, name, arguments: args, commands: below, summary }, i) => {
      const words = below.map((command) => command.name.replace(/^.* /, '')).join('\\|');
      const typed = ['leads', name, ...args.map(({ term }) => term), words].join(' ').trimEnd();
      return [program.commands[i - 1]?.group === group ? '' : group, `\`${typed}\``, summary];
    });
    expect(tableBelow(/^\| +\| command +\| what it does/)).toEqual(rows);
  });

  it('are the exit codes of help --json', () => {
    const rows = program.exitCodes.map(({ code, meaning }) => [String(code), meaning]);
    expect(tableBelow(/^\| code +\| meaning/)).toEqual(rows);
  });

  it('name schemes and environment variables that there are', () => {
    const schemes = tableBelow(/^\| scheme +\| header/).flatMap(([names = '']) =>
      [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? ''),
    );
    const topic = program.topics.find(({ name }) => name === 'schemes');
    const described = new Set(topic?.rows.map(([name]) => name));
    expect(schemes.length).toBeGreaterThan(5);
    expect(schemes.filter((name) => !described.has(name))).toEqual([]);
    const known = new Set(program.environment.map(({ name }) => name));
    const named = readme.match(/\bLEADS_[A-Z_]+/g) ?? [];
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });
});
