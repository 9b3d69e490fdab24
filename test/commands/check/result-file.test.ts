import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { startReceiver } from '../../check/obedient-receiver.ts';
import { hurriedClock } from '../../check/support.ts';
import { freshHome, leads, type Run } from '../../support/run.ts';

let home = '';
let file = '';
beforeEach(() => {
  home = freshHome();
  file = join(home, 'ours');
});
const written = (): string => readFileSync(file, 'utf8');

describe('check --junit and --write-baseline', () => {
  const checkTo = async (flag: string): Promise<Run> => {
    const { url } = await startReceiver('token', 'Token-of-the-Tests', () => ({}));
    const words = ['check', url, '--token', 'Token-of-the-Tests', '--only', 'body.no-lead', flag, file];
    return leads(words, { home, clock: hurriedClock, random: Math.random });
  };

  it.each(['--junit', '--write-baseline'])(
    '%s replaces its own kind and leaves any other file',
    async (flag) => {
      writeFileSync(file, '{"dependencies":{}}');
      const refused = await checkTo(flag);
      expect([refused.exitCode, refused.stdout]).toEqual([2, '']);
      expect(refused.stderr).toMatch(
        /ours exists and is no (JUnit report|baseline): it is not overwritten\nhint: .*--/,
      );
      expect(written()).toBe('{"dependencies":{}}');
      writeFileSync(file, '');
      for (let i = 0; i < 2; i += 1) expect((await checkTo(flag)).exitCode).not.toBe(2);
      expect(written()).toMatch(flag === '--junit' ? /<testsuite/ : /"failing"/);
    },
  );

  it('leaves a file of XML that is no JUnit report as it is', async () => {
    writeFileSync(file, '<!-- <testsuites> --><project/>');
    expect((await checkTo('--junit')).exitCode).toBe(2);
    expect(written()).toBe('<!-- <testsuites> --><project/>');
  });

  it.each(['\uFEFF<?xml version="1.0"?>\n', '<?xml-stylesheet href="a.xsl"?>\n', '<!-- of -> CI -->\n'])(
    'replaces a JUnit report that begins with %j',
    async (beginning) => {
      writeFileSync(file, `${beginning}<!-- 2 --><testsuites/>`);
      await checkTo('--junit');
      expect(written()).toContain('<testsuite ');
    },
  );
});
