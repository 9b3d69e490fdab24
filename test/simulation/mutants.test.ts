import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { mutantsOf } from './mutants.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('planted faults', () => {
  it('fit the source that they are a patch of', () => {
    const options = { cwd: root, env: { ...process.env, GIT_CEILING_DIRECTORIES: dirname(root) } };
    const misfits = mutantsOf(root).filter((name) => {
      try {
        execFileSync('git', ['apply', '--check', `test/simulation/mutants/${name}.patch`], {
          ...options,
          stdio: 'ignore',
        });
        return false;
      } catch {
        return true;
      }
    });
    expect(mutantsOf(root).length).toBeGreaterThanOrEqual(20);
    expect(misfits).toEqual([]);
  });
});
