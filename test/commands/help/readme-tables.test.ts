import { describe, expect, it } from 'vitest';
import { describeProgram } from '../../../src/commands/help/help-data.ts';
import { commands } from '../../../src/program.ts';
import { pages } from '../../support/printed-lines.ts';

const everything = pages.map(({ text }) => text).join('\n');
const program = await describeProgram(commands);

/** Cells of the rows below a table's heading, without the padding. */
function tableBelow(heading: RegExp): readonly (readonly string[])[] {
  const lines = everything.split('\n');
  const start = lines.findIndex((line) => heading.test(line));
  const rows = lines.slice(start + 2);
  return rows.slice(0, rows.indexOf('')).map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

describe('the tables of the README and docs/', () => {
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
    const named = everything.match(/\bLEADS_[A-Z_]+/g) ?? [];
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });
});
