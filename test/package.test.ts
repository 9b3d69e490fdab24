import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { optionalPackages } from '../src/files/optional-package.ts';

it('runs no script where the package is installed from its tarball', () => {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  const { scripts } = JSON.parse(text) as { scripts: Record<string, string> };
  // npm counts `prepare` too when the package does not come from a registry.
  for (const name of ['preinstall', 'install', 'postinstall', 'prepare']) {
    expect(scripts).not.toHaveProperty(name);
  }
});

it('names the installed version of each package that may be left out', () => {
  const read = (path: string): unknown =>
    JSON.parse(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8'));
  const { optionalDependencies } = read('package.json') as { optionalDependencies: Record<string, string> };
  expect(Object.keys(optionalDependencies).sort()).toEqual(Object.keys(optionalPackages).sort());
  for (const [name, version] of Object.entries(optionalPackages)) {
    expect(read(`node_modules/${name}/package.json`)).toMatchObject({ version });
  }
});
