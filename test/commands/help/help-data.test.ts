import { describe, expect, it } from 'vitest';
import { describeProgram } from '../../../src/commands/help/help-data.ts';
import type { CommandData } from '../../../src/commands/help/help-data.ts';
import { environmentVariables } from '../../../src/commands/help/topics.ts';
import { settingKeys } from '../../../src/config/setting-keys.ts';
import { commands } from '../../../src/program.ts';
import { leads } from '../../support/run.ts';

const program = await describeProgram(commands);
const withBelow = (command: CommandData): CommandData[] => [command, ...command.commands.flatMap(withBelow)];
const all = program.commands.flatMap(withBelow);
const flagsOf = (name: string) => all.find((command) => command.name === name)?.flags ?? [];

describe('leads help --json', () => {
  it('is the whole program as one document', async () => {
    const { exitCode, stdout, stderr } = await leads(['help', '--json']);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual(JSON.parse(JSON.stringify(program)));
    expect(all.length).toBeGreaterThan(25);
  });

  it.each([
    { words: ['list'], message: "unexpected argument 'list'" },
    { words: ['--format', 'csv'], message: "unknown option '--format'" },
  ])('says what is wrong with $words', async ({ words, message }) => {
    const { exitCode, stdout, stderr } = await leads(['help', '--json', ...words]);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'usage', message } });
  });

  it('describes a flag with its type, default, choices, and what holds without it', () => {
    const named = (command: string, flag: string) => flagsOf(command).find(({ name }) => name === flag);
    expect(named('list', '--limit')).toMatchObject({
      short: '-n',
      value: 'n',
      default: '20',
      shortFor: null,
    });
    expect(named('list', '--format')).toMatchObject({ choices: ['table', 'json', 'ndjson', 'csv'] });
    expect(named('list', '--json')).toMatchObject({ value: null, shortFor: '--format json' });
    expect(named('list', '--category')).toMatchObject({ repeatable: true, group: 'Filters' });
    expect(named('list', '--watch')).toMatchObject({ alone: '30s' });
    expect(named('listen', '--token')).toMatchObject({
      environment: 'LEADS_WEBHOOK_TOKEN',
      setting: 'webhook.token',
    });
    expect(program.flags.find(({ name }) => name === '--profile')).toMatchObject({
      environment: 'LEADS_PROFILE',
    });
  });

  it('names no setting and no variable that there is not, and every global flag that is a setting', () => {
    const flags = [...program.flags, ...all.flatMap((command) => command.flags)];
    const settings = new Set(settingKeys.map(({ name }) => name));
    const variables = new Set(environmentVariables.map(([name]) => name));
    const named = new Set(flags.map(({ setting }) => setting).filter((name) => name !== null));
    expect([...named].filter((name) => !settings.has(name))).toEqual([]);
    expect(flags.filter(({ environment }) => environment !== null && !variables.has(environment))).toEqual(
      [],
    );
    for (const { name, flag } of settingKeys) if (flag !== undefined) expect(named).toContain(name);
    // Settings alone, as `api.id` is.
    const alone = ['webhook.id', 'webhook.other-events'];
    const parts = settingKeys.filter(({ name }) => name.startsWith('webhook.') && !alone.includes(name));
    for (const { name } of parts) expect(named).toContain(name);
  });

  it('gives every command that runs its exit codes, with what 7 means there', () => {
    for (const { name, exitCodes, commands: below } of all) {
      if (below.length === 0) expect(exitCodes, name).toContainEqual({ code: 0, meaning: 'done' });
      const usual = program.exitCodes.find(({ code }) => code === 7)?.meaning;
      expect(exitCodes.find(({ code }) => code === 7)?.meaning, name).not.toBe(usual);
    }
  });

  it('tells of JSON output where a command has it, and nowhere else', () => {
    for (const { name, flags, output } of all) {
      const hasJson = flags.some((flag) => flag.name === '--json');
      expect(output.length > 0, name).toBe(hasJson);
    }
  });
});
