import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshHome } from '../support/run.ts';

const bin = fileURLToPath(new URL('../../bin/leads.js', import.meta.url));

const service = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify([{ id: 'a', note: 'x'.repeat(2_000_000) }]));
});

beforeAll(async () => {
  await once(service.listen(0, '127.0.0.1'), 'listening');
});
afterAll(() => {
  service.close();
});

const run = (command: string, args: readonly string[], env: Record<string, string> = {}) => {
  const { port } = service.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const home = freshHome();
  return execa(command, [...args, bin, 'export', '--base-url', url], {
    reject: false,
    extendEnv: false,
    env: { PATH: process.env['PATH'], HOME: home, XDG_CONFIG_HOME: home, LEADS_API_KEY: 'k', ...env },
  });
};

const remedy = 'NODE_OPTIONS=--disable-wasm-trap-handler';

describe('where there is too little memory', () => {
  it.each([1, 8])('says so, be it for the start or for a large lead (%i pages)', async (pages) => {
    const { exitCode, stderr } = await run(process.execPath, [`--wasm-max-mem-pages=${pages}`]);
    expect(stderr).toMatch(/^error: there is too little memory: .+\nhint: .+$/);
    expect(exitCode).toBe(3);
  });

  const limited = ['-c', 'ulimit -v 4000000 && exec "$0" "$@"', process.execPath];
  const isLimited = spawnSync('sh', [...limited, '-e', '0']).status === 0 && process.platform === 'linux';
  it.skipIf(!isLimited)('names a remedy that works', async () => {
    // Node 24 gets by with that much of an address space, older ones do not.
    const { exitCode, stderr } = await run('sh', limited);
    expect(exitCode === 0 || stderr.includes(remedy)).toBe(true);
    expect([0, 3]).toContain(exitCode);
    const [name = '', value = ''] = remedy.split(/=(.*)/s);
    expect((await run('sh', limited, { [name]: value })).exitCode).toBe(0);
  });
});
