import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { describeProgram } from '../../../src/commands/help/help-data.ts';
import type { CommandData } from '../../../src/commands/help/help-data.ts';
import { commands } from '../../../src/program.ts';

const withBelow = (command: CommandData): CommandData[] => [command, ...command.commands.flatMap(withBelow)];
const src = new URL('../../../src/', import.meta.url);

/** What hints and notes print as command lines: `'leads list --x'` in a text, or given to `words.command`. */
const printedIn = (text: string): readonly string[] =>
  [...text.matchAll(/(?:'leads|\bwords\.command\(\s*['"`]) ?([a-z][^'"`]*)/g)].map(([, line = '']) =>
    line.replaceAll(/\$\{[^}]*\}?/g, ' '),
  );

it('no flag is printed with a command that has no such flag', async () => {
  const program = await describeProgram(commands);
  const all = new Map(program.commands.flatMap(withBelow).map((command) => [command.name, command]));
  const wrong: string[] = [];
  let checked = 0;
  for (const path of readdirSync(src, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.ts')) continue;
    for (const line of printedIn(readFileSync(new URL(path, src), 'utf8'))) {
      const words = line.split(/[\s,;:)]+/).filter(Boolean);
      const command = all.get(words.slice(0, 2).join(' ')) ?? all.get(words[0] ?? '');
      // An English sentence may begin with the word, too.
      if (command === undefined) continue;
      checked += 1;
      const flags = [...program.flags, ...command.flags];
      const known = flags.flatMap(({ name, short }) => [name, short]);
      const unknown = words.filter(
        (word) => /^--?[a-z]/.test(word) && !known.includes(word.replace(/=.*/, '')),
      );
      if (unknown.length > 0) wrong.push(`${path}: ${unknown.join(' ')} of leads ${line}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(checked).toBeGreaterThan(50);
});
