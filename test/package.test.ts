import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

it('runs no script where the package is installed from its tarball', () => {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  const { scripts } = JSON.parse(text) as { scripts: Record<string, string> };
  // npm counts `prepare` too when the package does not come from a registry.
  for (const name of ['preinstall', 'install', 'postinstall', 'prepare']) {
    expect(scripts).not.toHaveProperty(name);
  }
});
