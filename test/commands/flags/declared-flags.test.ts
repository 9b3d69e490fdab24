import { describe, expect, it, test } from 'vitest';
import { flags as checkFlags } from '../../../src/commands/check/command.ts';
import { flags as exportFlags } from '../../../src/commands/export/command.ts';
import { flags as listFlags } from '../../../src/commands/list/command.ts';
import { flags as listenFlags } from '../../../src/commands/listen/command.ts';
import { flags as sandboxFlags } from '../../../src/commands/sandbox/command.ts';
import { flags as sendFlags } from '../../../src/commands/send/command.ts';
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

  test.each([
    {
      flags: listFlags,
      words: ['--limit', 'x'],
      message: "--limit: 'x' is not a whole number from 1, or 'all'",
    },
    { flags: listFlags, words: ['--status', ''], message: '--status: the value is empty' },
    { flags: listFlags, words: ['--fields', 'id,'], message: "--fields: 'id,' is not a list of fields" },
    { flags: listFlags, words: ['--fields', ' , '], message: "--fields: ' , ' is not a list of fields" },
    { flags: listFlags, words: ['--', '--limit'], message: "unexpected argument '--limit'" },
    { flags: sendFlags, words: ['--', '--dry-run'], message: "unexpected argument '--dry-run'" },
    { flags: listFlags, words: ['--json=id'], message: "unknown option '--json=id'" },
    { flags: listFlags, words: ['-vx'], message: "unknown option '-x'" },
    { flags: listFlags, words: ['lead_1'], message: "unexpected argument 'lead_1'" },
    { flags: listFlags, words: ['--limit'], message: '--limit <n>: the value is missing' },
    { flags: listFlags, words: ['--profile', ' '], message: "--profile: ' ' is not a text with at least" },
    { flags: listFlags, words: ['--status', '--json'], message: '--status <status>: the value is missing' },
    { flags: exportFlags, words: ['--limit', '0'], message: "--limit: '0' is not a whole number from 1" },
    { flags: listenFlags, words: ['--path', 'x'], message: "--path: 'x' is not a path that starts with /" },
    ...[
      { flags: checkFlags, words: ['--write-baseline', '-'] },
      { flags: listenFlags, words: ['--output', '-'] },
    ].map((wrong) => ({ ...wrong, message: "'-' is not the path of a file; stdout carries the results" })),
    { flags: sandboxFlags, words: ['--faults', 'fire=5%'], message: "there is no fault 'fire'" },
  ])('reject $words and name the flag', async ({ flags, words, message }) => {
    await expect(optionsOf(flags, words)).rejects.toThrow(message);
  });
});
