import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import { libsqlVersion } from '../src/inbox/sqlite/libsql.ts';

it('runs no script where the package is installed from its tarball', () => {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  const { scripts } = JSON.parse(text) as { scripts: Record<string, string> };
  // npm counts `prepare` too when the package does not come from a registry.
  for (const name of ['preinstall', 'install', 'postinstall', 'prepare']) {
    expect(scripts).not.toHaveProperty(name);
  }
});

it('names the installed version of the package that may be left out', () => {
  const read = (path: string): unknown =>
    JSON.parse(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8'));
  const { optionalDependencies } = read('package.json') as { optionalDependencies: Record<string, string> };
  expect(Object.keys(optionalDependencies)).toEqual(['libsql']);
  expect(read('node_modules/libsql/package.json')).toMatchObject({ version: libsqlVersion });
});

it('what the workflow publishes is the file that was made, and nothing from elsewhere', async () => {
  const place = mkdtempSync(join(tmpdir(), 'leads-publish-'));
  mkdirSync(join(place, 'release'));
  writeFileSync(join(place, 'package.json'), '{ "name": "leads-cli", "version": "1.2.3" }');
  await execa('npm', ['pack', '--silent', '--pack-destination', 'release'], { cwd: place });
  const workflow = readFileSync(new URL('../.github/workflows/release.yml', import.meta.url), 'utf8');
  const [, spec = ''] = /npm publish .* (".*")/.exec(workflow) ?? [];
  const options = { cwd: place, env: { GITHUB_REF_NAME: 'v1.2.3', GIT_SSH_COMMAND: 'false' } };
  const { stdout } = await execa('bash', ['-c', `npm pack --silent --dry-run ${spec}`], options);
  expect(stdout).toBe('leads-cli-1.2.3.tgz');
});
