import { describe, expect, it, test } from 'vitest';
import type { CommandSpec } from '../../../src/commands/flags/command-spec.ts';
import { type Flag, flagName, flagTerm, globalFlags } from '../../../src/commands/flags/flag.ts';
import { settingKeys } from '../../../src/config/setting-keys.ts';
import { commands } from '../../../src/program.ts';
import { leads } from '../../support/run.ts';
import { presets, schemeNames, vendorSecrets } from '../../../src/webhook/vendor-presets.ts';

/** Every command that there is, with the words that name it. */
async function allCommands(): Promise<(readonly [path: readonly string[], spec: CommandSpec])[]> {
  const specs = await Promise.all(commands.map((entry) => entry.load()));
  return specs.flatMap(({ default: spec }) => [
    [[spec.name], spec] as const,
    ...spec.subcommands.map((child) => [[spec.name, child.name], child] as const),
  ]);
}

const flat = (text: string): string => text.replace(/\s+/g, ' ');

describe('help', () => {
  it('shows every declared flag and argument of every command', async () => {
    for (const [path, spec] of await allCommands()) {
      const { exitCode, stdout } = await leads(['help', ...path]);
      expect(exitCode, path.join(' ')).toBe(0);
      for (const [key, flag] of Object.entries(spec.flags)) {
        expect(stdout).toContain(flagTerm(key, flag));
        if (flag.help !== undefined) expect(flat(stdout)).toContain(flag.help);
      }
      for (const { help } of Object.values(spec.arguments)) expect(flat(stdout)).toContain(help);
    }
  });

  it('is the same however it is asked for', async () => {
    const brief = (await leads(['config', 'set', '--help'])).stdout;
    const whole = (await leads(['config', 'set', '--help', '--all'])).stdout;
    expect(whole.length).toBeGreaterThan(brief.length);
    for (const [argv, stdout] of [
      [['help', 'config', 'set'], whole],
      [['--profile', 'x', 'help', 'config', 'set'], whole],
      [['help', '--profile', 'x', 'config', 'set'], whole],
      [['-h', '--all', 'config', 'set'], whole],
      [['-h', 'config', 'set'], brief],
      [['config', '-h', 'set'], brief],
      [['--profile', 'x', 'config', 'set', '-h'], brief],
    ] as const) {
      expect((await leads(argv)).stdout, argv.join(' ')).toBe(stdout);
    }
  });

  it('is one screen at 80 columns, with the flags of every day and two examples', async () => {
    for (const [path, spec] of await allCommands()) {
      const { stdout } = await leads([...path, '--help']);
      const most = ['listen', 'audit'].includes(path.join(' ')) ? 30 : 24;
      expect(stdout.split('\n').length, path.join(' ')).toBeLessThanOrEqual(most);
      expect(stdout.match(/^ {2}\$ leads /gm)?.length).toBeGreaterThanOrEqual(
        Math.min(2, spec.examples.length),
      );
      for (const example of stdout.match(/^ {2}\$ .*/gm) ?? [])
        expect(example).toContain(`leads ${path[0] ?? ''}`);
      for (const key of spec.everyday ?? []) expect(stdout).toContain(flagName(key));
      const isWhole = Object.keys(spec.flags).every((key) => stdout.includes(flagName(key)));
      expect(isWhole || stdout.includes(`leads help ${path.join(' ')}`), path.join(' ')).toBe(true);
    }
  });

  it('explains the global flags where it is whole', async () => {
    const { stdout } = await leads(['list', '--help', '--all']);
    for (const [key, flag] of Object.entries<Flag>(globalFlags)) {
      expect(stdout).toContain(flagTerm(key, flag));
      expect(flat(stdout)).toContain(flag.help);
    }
  });

  it.each([40, 60, 100])('breaks no word on a terminal of %i columns', async (columns) => {
    // A command line that is too long goes on behind a backslash.
    const wide = (text: string): Set<string> => new Set(text.replaceAll('\\\n', '\n').split(/\s+/));
    for (const [path] of [[[]], ...(await allCommands())] as const) {
      const whole = wide((await leads(['help', ...path])).stdout);
      const { stdout } = await leads(['help', ...path], { terminal: columns });
      expect(wide(stdout)).toEqual(whole);
      const overlong = stdout
        .split('\n')
        .filter((line) => line.length > columns && !line.startsWith('Usage:'))
        // A word, or a flag with its value, may be longer than the line.
        .filter((line) => /\S {1,2}\S/.test(line.trim()) && !/^ {2}(-|<|leads)/.test(line));
      if (columns >= 60) expect(overlong, path.join(' ')).toEqual([]);
    }
  });

  it('lists every setting with its meaning', async () => {
    const { stdout } = await leads(['help', 'config', 'set']);
    for (const { name, help } of settingKeys) {
      expect(stdout).toContain(name);
      expect(flat(stdout)).toContain(help);
    }
  });

  it.each([
    { topic: 'environment', says: 'LEADS_DATA_DIR' },
    { topic: 'exit-codes', says: '143' },
    { topic: 'dialect', says: 'api.params.since' },
    { topic: 'schemes', says: 'timestampPrefix' },
  ])('has the topic $topic', async ({ topic, says }) => {
    const { exitCode, stdout } = await leads(['help', topic]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(says);
    expect(await leads(['--no-color', '--profile', 'x', 'help', topic])).toEqual({
      exitCode,
      stdout,
      stderr: '',
    });
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });
});

test('the topic of schemes names every scheme, with its headers and what is signed', async () => {
  const { stdout } = await leads(['help', 'schemes']);
  for (const name of schemeNames) expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
  for (const preset of presets) {
    expect(flat(stdout)).toContain(preset.signatureHeader);
    expect(flat(stdout)).toContain(`over ${preset.content.replace('decodedUrl', 'url')}`);
    expect(flat(stdout)).toContain(`secret: ${vendorSecrets[preset.name]}`);
  }
});
