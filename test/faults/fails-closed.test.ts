import { expect, test } from 'vitest';
import { leads } from '../support/run.ts';
import { cases } from '../webhook/schemes/every.ts';

test('promise 6: without a usable secret no receiver starts', async () => {
  const started: string[] = [];
  let tried = 0;
  const refused = async (argv: readonly string[], exitCode: number, env: Record<string, string> = {}) => {
    tried += 1;
    const run = await leads(['listen', '--http', '--port', '0', '--for', '1s', ...argv], { env });
    if (run.exitCode !== exitCode || run.stdout !== '')
      started.push(`${String(run.exitCode)}: ${argv.join(' ')}`);
  };
  for (const { name, flags } of cases) {
    const flag = name === 'token' ? '--token' : '--secret';
    await refused(flags, 3);
    for (const empty of ['', ' ', '\n']) await refused([...flags, flag, empty], 3);
    await refused([...flags, flag, 'good-secret-of-some-length', flag, ''], 3);
    // A token at hand is no reason to ask for less than the scheme that was named.
    if (name !== 'token') await refused(flags, 3, { LEADS_WEBHOOK_TOKEN: 'a-token-in-the-environment' });
  }
  await refused([], 3);
  await refused(['--token', ''], 3);
  for (const unknown of ['none', 'Token', 'hmac', ''])
    await refused(['--scheme', unknown, '--secret', 's'], 2);
  await refused(['--secret', 's'], 2);
  await refused(['--no-verify', '--token', 't'], 2);
  console.log(
    `promise 6: ${tried} ways to start without a secret or with contradictions: started ${started.length}`,
  );
  expect(started).toEqual([]);
});
