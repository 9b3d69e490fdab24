import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { describeProgram } from '../../src/commands/help/help-data.ts';
import type { CommandData } from '../../src/commands/help/help-data.ts';
import { settingKeys } from '../../src/config/setting-keys.ts';
import { commands } from '../../src/program.ts';
import { leads } from '../support/run.ts';

const withBelow = (command: CommandData): CommandData[] => [command, ...command.commands.flatMap(withBelow)];
const linesOf = (text: string): number => text.trimEnd().split('\n').length;

it('says how much there is to learn, and that it stays within its limits', async () => {
  const program = await describeProgram(commands);
  const all = program.commands.flatMap(withBelow);
  const places = all.flatMap(({ name, flags }) => flags.map((flag) => ({ name, flag: flag.name })));
  const counts = {
    commands: all.filter(({ exitCodes }) => exitCodes.length > 0).length,
    'places of flags': places.length,
    'distinct flags': new Set(places.map(({ flag }) => flag)).size,
    'flags of every command': program.flags.length,
    settings: settingKeys.length,
    'flags of listen': places.filter(({ name }) => name === 'listen').length,
    'lines of README.md': linesOf(readFileSync(new URL('../../README.md', import.meta.url), 'utf8')),
    'lines of leads --help': linesOf((await leads(['--help'])).stdout),
  };
  const help = await Promise.all(
    all.map(async ({ name }) => {
      const [short, whole] = await Promise.all([
        leads([...name.split(' '), '--help']),
        leads(['help', ...name.split(' ')]),
      ]);
      return { name, short: linesOf(short.stdout), whole: linesOf(whole.stdout) };
    }),
  );
  const rows = [
    ...Object.entries(counts).map(([what, count]) => `${String(count).padStart(4)}  ${what}`),
    ...help.map(
      ({ name, short, whole }) => `${String(short).padStart(4)}  ${name} --help (${whole} with --all)`,
    ),
  ];
  console.log(rows.join('\n'));
  expect(counts['places of flags']).toBeLessThanOrEqual(360);
  expect(counts['flags of listen']).toBeLessThanOrEqual(34);
  expect(counts['lines of README.md']).toBeLessThanOrEqual(180);
  expect(counts['lines of leads --help']).toBeLessThanOrEqual(23);
});
