import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { buildProgram } from '../support/program.ts';

it('promise 7: the young generation stays small on every node, whatever is allocated', async () => {
  // In a process of its own: in this one, other tests have let it grow.
  const program = await buildProgram(new URL('./young-generation-program.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [program]);
  const most = Number(stdout);
  expect(most).toBeGreaterThan(0);
  // One step of growth above the limit.
  expect(most).toBeLessThan(36);
});
