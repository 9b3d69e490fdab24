import { describe, expect, it, test } from 'vitest';
import { flags as exportFlags } from '../../../src/commands/export/command.ts';
import { flags as listFlags } from '../../../src/commands/list/command.ts';
import { flags as listenFlags } from '../../../src/commands/listen/command.ts';
import { flags as sandboxFlags } from '../../../src/commands/sandbox/command.ts';
import { flags as sendFlags } from '../../../src/commands/send/command.ts';
import type { Flags } from '../../../src/commands/flags/flag.ts';
import { optionsOf } from '../../support/options.ts';

describe('declared flags', () => {
  it('become checked options, with their defaults', async () => {
    expect(await optionsOf(listFlags, [])).toMatchObject({
      limit: 20,
      format: 'table',
      json: false,
      watch: undefined,
      category: [],
      where: [],
    });
    expect(await optionsOf(listenFlags, [])).toMatchObject({ port: 8443, host: '127.0.0.1', verify: true });
  });

  test.each([
    { words: ['-n', '3'], option: { limit: 3 } },
    { words: ['-vqn3'], option: { limit: 3 } },
    { words: ['--status=--json'], option: { status: '--json', json: false } },
    { words: ['--status', '-'], option: { status: '-' } },
    { words: ['--status', '-5'], option: { status: '-5' } },
    { words: ['--status', '--else'], option: { status: '--else' } },
    { words: ['--status', '-qx'], option: { status: '-qx' } },
    { words: ['--watch', '--accept-incomplete'], option: { watch: 30_000, acceptIncomplete: true } },
    { words: ['--limit=all'], option: { limit: Infinity } },
    { words: ['--category', 'a', '--category', 'b'], option: { category: ['a', 'b'] } },
    { words: ['--watch'], option: { watch: 30_000 } },
    { words: ['--watch', '5s'], option: { watch: 5000 } },
    { words: ['--json'], option: { format: 'json' } },
    { words: ['--format', 'csv'], option: { format: 'csv' } },
    { words: ['--fields', 'id, contact.email'], option: { fields: ['id', 'contact.email'] } },
  ])('list $words', async ({ words, option }) => {
    expect(await optionsOf(listFlags, words)).toMatchObject(option);
  });

  it('take several values in the order in which they are typed', async () => {
    const { apiKey } = await optionsOf(sandboxFlags, ['--api-key', 'first', '--api-key', 'second']);
    expect(apiKey).toEqual(['first', 'second']);
  });

  it('read --json as the form of events where there is no other JSON', async () => {
    expect((await optionsOf(listenFlags, ['--json'])).format).toBe('events');
  });

  it.each<readonly [words: readonly string[], flags: Flags, message: string]>([
    [['--limit', 'x'], listFlags, "--limit: 'x' is not a whole number from 1, or 'all'"],
    [['--status', ''], listFlags, '--status: the value is empty'],
    [['--fields', 'id,'], listFlags, "--fields: 'id,' is not a list of fields"],
    [['--', '--limit'], listFlags, "unexpected argument '--limit'"],
    [['--', '--dry-run'], sendFlags, "unexpected argument '--dry-run'"],
    [['--json=id'], listFlags, "unknown option '--json=id'"],
    [['-vx'], listFlags, "unknown option '-x'"],
    [['lead_1'], listFlags, "unexpected argument 'lead_1'"],
    [['--limit'], listFlags, '--limit <n>: the value is missing'],
    [['--profile', ' '], listFlags, "--profile: ' ' is not a text with at least"],
    [['--status', '--json'], listFlags, '--status <status>: the value is missing'],
    [['--limit', '0'], exportFlags, "--limit: '0' is not a whole number from 1"],
    [['--path', 'x'], listenFlags, "--path: 'x' is not a path that starts with /"],
    [['--output', '-'], listenFlags, "'-' is not the path of a file; stdout carries the results"],
    [['--faults', 'fire=5%'], sandboxFlags, "there is no fault 'fire'"],
  ])('are rejected, and the flag is named: %j', async (words, flags, message) => {
    await expect(optionsOf(flags, words)).rejects.toThrow(message);
  });
});
