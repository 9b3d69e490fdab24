import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { commands } from '../../src/program.ts';

const folder = fileURLToPath(new URL('../../dist/man', import.meta.url));
const pages = readdirSync(folder).sort();
const has = (program: string): boolean => spawnSync(program, ['--help']).error === undefined;
const isComplete = process.env['CI'] === 'true';
if (!has('mandoc') || !has('man')) process.stdout.write('mandoc or man is not installed, so not tested\n');

it('has a page for the program and one for each command, which the package names', () => {
  const expected = ['leads.1', ...commands.map(({ name }) => `leads-${name}.1`)].sort();
  expect(pages).toEqual(expected);
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { man } = JSON.parse(text) as { man: readonly string[] };
  expect(man.map((path) => path.replace('./dist/man/', '')).sort()).toEqual(expected);
});

it.runIf(has('mandoc') || isComplete)('is correct mdoc', () => {
  const { stdout, error } = spawnSync('mandoc', ['-T', 'lint', '-W', 'warning', ...pages], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(error).toBeUndefined();
  expect(stdout).toBe('');
});

it.runIf(has('man') || isComplete)('fits 80 columns', () => {
  for (const page of pages) {
    const { stdout, stderr } = spawnSync('man', ['-l', page], {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], MANWIDTH: '80', LC_ALL: 'C.UTF-8', MANROFFOPT: '-ww' },
    });
    expect(stderr, page).toBe('');
    const lines = stdout.split('\n');
    expect(lines.length, page).toBeGreaterThan(20);
    // A command line is never broken.
    expect(
      lines.filter((line) => line.length > 80 && !line.trimStart().startsWith('$ ')),
      page,
    ).toEqual([]);
  }
});
