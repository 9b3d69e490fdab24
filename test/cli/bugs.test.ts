import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import { binary, environment } from '../support/listen-process.ts';
import { freshHome } from '../support/run.ts';

it.each([
  ['is thrown where nobody waits for it', "throw new Error('unforeseen')"],
  ['leaves nothing to wait for', 'for (const server of process._getActiveHandles()) server.unref?.()'],
])('a bug that %s is exit 1, and says where to report it', async (_, bug) => {
  const home = freshHome();
  const preload = join(home, 'preload.cjs');
  // In place of a bug in the program: SIGUSR2 does nothing there.
  writeFileSync(preload, `process.on('SIGUSR2', () => { ${bug} });`);
  const words = ['--require', preload, binary, 'sandbox', '--port', '0', '--leads', '1'];
  const run = execa(process.execPath, words, { env: environment(home), reject: false, stdin: 'ignore' });
  run.stderr.once('data', () => run.kill('SIGUSR2'));
  const { exitCode, stderr } = await run;
  expect(exitCode).toBe(1);
  expect(stderr).toContain('error: a bug in leads: ');
  expect(stderr).toContain('npm bugs leads-cli');
});
