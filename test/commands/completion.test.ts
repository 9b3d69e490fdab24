import { expect, it } from 'vitest';
import { leads } from '../support/run.ts';

it.each(['bash', 'zsh', 'fish', 'powershell'])('the script for %s evaluates nothing', async (shell) => {
  const { exitCode, stdout } = await leads(['completion', shell]);
  expect(exitCode).toBe(0);
  expect(stdout).not.toMatch(/\beval\b|Invoke-Expression|\biex\b|\bleads completion\b|\$\(leads/i);
});

it('has words that mean nothing else to a shell', async () => {
  const { stdout } = await leads(['completion', 'powershell']);
  const words = [...stdout.matchAll(/^ {8}'[^']*' = '([^']*)'$/gm)].map(([, value = '']) => value);
  expect(words.length).toBeGreaterThan(100);
  for (const list of words) expect(list).toMatch(/^[a-zA-Z0-9 ._-]*$/);
});

it('calls what was not run untested', async () => {
  const { stdout } = await leads(['completion', '--help']);
  expect(stdout).toMatch(/powershell .*\n?.*untested/i);
  expect((await leads(['completion', 'powershell'])).stdout).toContain('untested');
});
