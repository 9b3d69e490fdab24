import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { processHost } from '../../src/host.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.ts';

const bin = fileURLToPath(new URL('../../bin/leads.js', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'leads-cli-'));
let sandbox: Sandbox;
let page: Server;

const pageUrl = (): string => `http://127.0.0.1:${(page.address() as AddressInfo).port}`;

interface Given {
  readonly env?: Record<string, string>;
  readonly input?: string;
}

/** The real binary, in its own home, as a script would run it. */
async function run(command: string, { env = {}, input = '' }: Given = {}) {
  const { exitCode, stdout, stderr } = await execa(
    'bash',
    ['-c', `set -o pipefail; ${command.replaceAll('leads ', `"$NODE" "$LEADS" `)}`],
    {
      reject: false,
      input,
      env: {
        NODE: process.execPath,
        LEADS: bin,
        LEADS_CONFIG_DIR: join(home, 'config'),
        LEADS_DATA_DIR: join(home, 'data'),
        ...env,
      },
    },
  );
  return { exitCode, stdout, stderr };
}

beforeAll(async () => {
  sandbox = await startSandbox({ leads: 300, seed: 7 }, { clock: processHost().clock });
  page = createServer((_, response) => response.end('<html>not the API</html>'));
  await new Promise<void>((done) => page.listen(0, '127.0.0.1', done));
});

afterAll(async () => {
  page.close();
  await sandbox.close();
});

describe('the binary, from login to export', () => {
  it('logs in, lists, pipes into jq and exports', async () => {
    const login = await run(`leads login --base-url ${sandbox.url}`, { input: `${sandbox.apiKey}\n` });
    expect(login).toMatchObject({ exitCode: 0, stdout: '' });
    const table = await run('leads list --status new');
    expect(table.exitCode).toBe(0);
    expect(table.stdout.split('\n')).toHaveLength(21);
    const ids = await run('leads list --json | jq -r ".[].id"');
    expect(ids.stdout.split('\n')).toHaveLength(20);
    await run(`leads export > ${home}/leads.ndjson`);
    const lines = readFileSync(join(home, 'leads.ndjson'), 'utf8').trimEnd().split('\n');
    expect(new Set(lines.map((line) => (JSON.parse(line) as { id: string }).id)).size).toBe(300);
  });

  it.each([
    ['leads list', { LEADS_CONFIG_DIR: join(home, 'empty') }, 3, 'leads login'],
    ['leads list', { LEADS_API_KEY: 'wrong-key-0123456789' }, 4, 'leads login'],
    [
      'leads list --retries 1 --base-url http://127.0.0.1:9',
      { LEADS_API_KEY: 'a-key-0123456789' },
      5,
      'base URL',
    ],
    ['leads list --base-url PAGE', { LEADS_API_KEY: 'a-key-0123456789' }, 6, 'base URL'],
    ['leads list --base-url https://elsewhere.example.com', {}, 3, 'leads login'],
    ['leads list --limt 3', {}, 2, '--limit'],
    ['leads list > /dev/full', {}, 8, 'space'],
    ['leads export > /dev/full', {}, 8, 'space'],
    ['leads --version > /dev/full', {}, 8, 'space'],
  ])('%s with %j exits %i with one line and a hint', async (command, env, exitCode, hint) => {
    const ended = await run(command.replace('PAGE', pageUrl()), { env: env });
    expect(ended.exitCode).toBe(exitCode);
    const [error, hinted, ...rest] = ended.stderr.split('\n');
    expect(error).toMatch(/^error: \S/);
    expect(hinted).toMatch(new RegExp(`^hint: .*${hint}`));
    expect(rest).toEqual([]);
  });

  it('ends quietly when the reader of stdout goes away', async () => {
    const ended = await run('leads export -q | head -n 1; echo "${PIPESTATUS[0]}"');
    const [lead = '', code] = ended.stdout.split('\n');
    expect(JSON.parse(lead)).toHaveProperty('id');
    // 300 leads fit a pipe's buffer: whoever wrote before the reader left has succeeded.
    expect(['0', '141']).toContain(code);
    expect(ended.stderr).toBe('');
  });
});

it('starts without a home, a terminal or an environment', () => {
  const text = execFileSync(process.execPath, [bin, '--help'], {
    env: {},
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  expect(text).toContain('leads <command>');
});
