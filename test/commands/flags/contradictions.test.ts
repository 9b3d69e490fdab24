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
  test.each([
    {
      words: '--follow',
      error: '--follow needs --file or --until',
      hint: 'add --file <path> or --until <time>',
    },
    { words: '--bom --file x', error: '--bom needs --format csv', hint: 'use --format csv' },
    { words: '--bom --format csv', error: '--bom needs --file', hint: 'add --file <path>' },
    {
      words: '--where a=b',
      error: '--where needs --from',
      hint: 'add --from inbox or --from service',
    },
    {
      words: '--follow --file x --format json',
      error: '--follow and --format json do not go together',
      hint: 'with --follow, --format is table or csv',
    },
    {
      words: '--no-check --file x',
      error: '--no-check and --file do not go together',
      hint: 'leave one of them out',
    },
    {
      words: 'ada --follow --until now',
      error: '--follow and NAME do not go together',
      hint: 'leave one of them out',
    },
    {
      words: '--key - --body -',
      error: 'stdin can be read only once, not for --key - and --body -',
      hint: 'give a file in place of one of them',
    },
    {
      words: '--key - --key -',
      error: 'stdin can be read only once, not for --key - and --key -',
      hint: 'give a file in place of one of them',
    },
  ])('$words', ({ words, error, hint }) => {
    expect(() => check(words)).toThrow(expect.objectContaining({ message: error, hint, code: 'usage' }));
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
