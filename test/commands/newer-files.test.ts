import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createClient, type Checkpoint } from '../../src/library/client.ts';
import { freshHome, leads } from '../support/run.ts';

/** The state of an export, the configuration and so on, as a newer version would begin them. */
const newerFile = '{"version":9}';

describe('a file of a newer version is refused, with what to install, and stays as it is', () => {
  it.each<[file: string, exitCode: number, words: (path: string) => readonly string[]]>([
    ['config.json', 3, () => ['config', 'list']],
    ['bookmark.json', 6, (path) => ['export', '--bookmark', path]],
    ['export.ndjson.checkpoint', 6, (path) => ['export', '--resume', '-o', path.replace('.checkpoint', '')]],
    ['export.ndjson.checkpoint', 6, (path) => ['export', '-o', path.replace('.checkpoint', '')]],
    ['baseline.json', 6, (path) => ['check', 'http://127.0.0.1:1/', '--token', 'a', '--baseline', path]],
  ])('%s: exit %i', async (file, exitCode, words) => {
    const home = freshHome();
    const path = join(home, 'config', file);
    mkdirSync(join(home, 'config'), { recursive: true });
    writeFileSync(path, newerFile);
    writeFileSync(join(home, 'config/export.ndjson.partial'), '');
    const run = await leads(words(path), {
      home,
      env: { LEADS_BASE_URL: 'http://127.0.0.1:1', LEADS_API_KEY: 'key' },
    });
    expect(run).toMatchObject({ exitCode, stdout: '' });
    expect(run.stderr).toMatch(/version.*(\n.*)?npm install leads-cli@latest/);
    expect(readFileSync(path, 'utf8')).toBe(newerFile);
  });

  it("a client's checkpoint: a UsageError", async () => {
    const client = createClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'k' });
    const from = JSON.parse(newerFile) as Checkpoint;
    const read = client.leads({}, { from })[Symbol.asyncIterator]().next();
    await expect(read).rejects.toMatchObject({
      code: 'usage',
      hint: expect.stringContaining('npm install leads-cli@latest') as string,
    });
  });
});
