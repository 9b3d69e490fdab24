import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { freshHome, leads } from '../../support/run.ts';
import { startApp } from './app.ts';
import { listen } from './support.ts';

/** There is a file in its place. */
function withoutDataDirectory() {
  const directory = freshHome();
  writeFileSync(join(directory, 'file'), '');
  return { inbox: join(directory, 'inbox.db'), env: { LEADS_DATA_DIR: join(directory, 'file', 'data') } };
}

it('a receiver whose inbox is elsewhere needs no data directory', async () => {
  const { inbox, env } = withoutDataDirectory();
  const app = await startApp((_, response) => response.end());
  onTestFinished(() => app.close());
  const { url, received } = app;
  const listener = await listen(['--http', '--inbox', inbox, '--forward-to', url], { env });
  expect((await listener.post({ id: 'a' })).status).toBe(200);
  await listener.stop();
  const retried = await leads(['inbox', 'retry', 'a', '--inbox', inbox, '--to', url], { env });
  expect(retried).toMatchObject({ exitCode: 0 });
  expect(received).toHaveLength(2);
});

it.each(['listen', 'retry'])(
  '%s says what is wrong with it where its authority is needed',
  async (command) => {
    const { inbox, env } = withoutDataDirectory();
    const url = 'https://127.0.0.1:1';
    const words =
      command === 'listen'
        ? ['listen', '--http', '--port', '0', '--token', 'secret', '--inbox', inbox, '--forward-to', url]
        : ['inbox', 'retry', 'a', '--inbox', inbox, '--to', url];
    const { exitCode, stderr } = await leads(words, { env });
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining('the local certificates in')]);
  },
);

it('doctor goes on without it', async () => {
  const { inbox, env } = withoutDataDirectory();
  const words = ['doctor', '--json', '--inbox', inbox, '--base-url', 'https://127.0.0.1:1', '--retries', '0'];
  const { exitCode, stdout } = await leads(words, { env: { ...env, LEADS_API_KEY: 'key' } });
  expect(exitCode).toBe(7);
  expect(stdout).toMatch(/"receiver\.authority","result":"fail","detail":"the local certificates in/);
});
