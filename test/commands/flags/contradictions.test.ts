import { describe, expect, it, test } from 'vitest';
import { command, type CommandSpec } from '../../../src/commands/flags/command-spec.ts';
import { type Flags, isSwitch, longName } from '../../../src/commands/flags/flag.ts';
import { inputFile, oneOf, text } from '../../../src/config/value-types.ts';
import { parseCommand } from '../../../src/parse-argv.ts';
import { commands } from '../../../src/program.ts';

const flags = {
  file: { value: 'path', type: text },
  follow: { with: ['--file | --until'], without: ['--format json', 'name'] },
  until: { value: 'time', type: text },
  format: { value: 'form', type: oneOf(['table', 'json', 'csv']), default: 'table' },
  bom: { with: ['--file', '--format csv'] },
  check: { negated: true, without: ['--file'] },
  key: { value: 'file', type: inputFile, repeatable: true, with: ['--format table'] },
  body: { value: 'file', type: inputFile },
  where: { value: 'condition', type: text, with: ['--from'] },
  from: { value: 'place', type: oneOf(['inbox', 'service']) },
} satisfies Flags;

const probe = command({
  name: 'probe',
  summary: '',
  examples: [],
  arguments: { name: { type: text, optional: true, help: '' } },
  flags,
  load: () => Promise.resolve({ run: () => Promise.resolve('done' as const) }),
});

const check = (words: string): unknown => parseCommand(probe, words.split(' '));

describe('flags that contradict each other', () => {
  const leaveOut = 'leave one of them out';
  test.each([
    ['--follow', '--follow needs --file or --until', 'add --file <path> or --until <time>'],
    ['--bom --file x', '--bom needs --format csv', 'use --format csv'],
    ['--bom --format csv', '--bom needs --file', 'add --file <path>'],
    ['--where a=b', '--where needs --from', 'add --from inbox or --from service'],
    [
      '--follow --file x --format json',
      '--follow and --format json do not go together',
      'with --follow, --format is table or csv',
    ],
    ['--no-check --file x', '--no-check and --file do not go together', leaveOut],
    ['ada --follow --until now', '--follow and NAME do not go together', leaveOut],
    [
      '--key - --body -',
      'stdin can be read only once, not for --key - and --body -',
      'give a file in place of one of them',
    ],
  ])('%s', (words, message, hint) => {
    expect(() => check(words)).toThrow(expect.objectContaining({ message, hint, code: 'usage' }));
  });

  test.each(['--follow --until now', '--bom --file x --format csv', '--file x', '--key - --body x'])(
    '%s is accepted',
    (words) => {
      expect(() => check(words)).not.toThrow();
    },
  );
});

const allOf = (spec: CommandSpec, path = spec.name): (readonly [string, CommandSpec])[] => [
  [path, spec],
  ...spec.subcommands.flatMap((child) => allOf(child, `${path} ${child.name}`)),
];

it('names flags, values and arguments that the command has', async () => {
  const specs = await Promise.all(commands.map(async ({ load }) => (await load()).default));
  const unknown = specs
    .flatMap((spec) => allOf(spec))
    .flatMap(([path, spec]) =>
      Object.values(spec.flags)
        .flatMap((flag) => [
          ...(flag.with ?? []).flatMap((words) => words.split(' | ')),
          ...(flag.without ?? []),
        ])
        .filter((word) => !isDeclared(spec, word))
        .map((word) => `${path}: ${word}`),
    );
  expect(unknown).toEqual([]);
});

function isDeclared(spec: CommandSpec, word: string): boolean {
  const [name = '', value] = word.split(' ');
  const [, flag] =
    Object.entries(spec.flags).find(([key, candidate]) => longName(key, candidate) === name) ?? [];
  if (flag === undefined) return Object.hasOwn(spec.arguments, word);
  if (value === undefined) return true;
  return !isSwitch(flag) && flag.type.parse(value) !== undefined;
}
