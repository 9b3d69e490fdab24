import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { sign } from '../../src/library/webhook.ts';
import { post } from '../library/receiver/post.ts';
import { until } from '../support/until.ts';

const program = fileURLToPath(new URL('./application.mjs', import.meta.url));

/** Starts the application, and resolves when it listens. */
async function start(inbox: string, file: string, mode: 'hang' | 'take') {
  const child: ChildProcess = spawn(process.execPath, [program, inbox, file, mode], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let port = '';
  child.stdout?.on('data', (piece: Buffer) => (port += piece.toString()));
  await until(() => port.includes('\n') || child.exitCode !== null, 'the application');
  return { child, url: `http://127.0.0.1:${port.trim()}/leads` };
}

test('an application that is killed while it handles leads is handed them again at its next start', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'leads-killed-'));
  const [inbox, file] = [join(folder, 'inbox.db'), join(folder, 'taken.ndjson')];
  const ids = Array.from({ length: 8 }, (_, i) => `lead_${i}`);
  const taken = (): { mode: string; id: string; attempt: number }[] =>
    existsSync(file)
      ? readFileSync(file, 'utf8')
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => JSON.parse(line) as { mode: string; id: string; attempt: number })
      : [];
  const first = await start(inbox, file, 'hang');
  const deliveries = ids.map(async (id) => {
    const { headers, body } = await sign({ id }, { scheme: 'github', secrets: 'octo' });
    return post(first.url, body, headers).catch((error: unknown) => error);
  });
  await until(() => taken().length === ids.length, 'all leads in onLead');
  first.child.kill('SIGKILL');
  // None was acknowledged: the connections were cut.
  for (const answer of await Promise.all(deliveries)) expect(answer).toBeInstanceOf(Error);
  const second = await start(inbox, file, 'take');
  await until(() => taken().length === 2 * ids.length, 'all leads again');
  const again = taken().filter(({ mode }) => mode === 'take');
  expect(again.map(({ id }) => id).sort()).toEqual(ids);
  expect(again.every(({ attempt }) => attempt > 1)).toBe(true);
  const { headers, body } = await sign({ id: 'lead_0' }, { scheme: 'github', secrets: 'octo' });
  expect(await post(second.url, body, headers)).toMatchObject({ status: 200 });
  expect(taken()).toHaveLength(2 * ids.length);
  const exited = once(second.child, 'exit');
  second.child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});
