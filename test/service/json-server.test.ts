import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serviceAt } from '../support/service.ts';
import { walk } from '../support/walk.ts';
import { freePort } from '../support/free-port.ts';

/** A service written by somebody else, in both of its pagination styles. */
const require = createRequire(import.meta.url);
const releases = {
  '0.17': join(dirname(require.resolve('json-server/package.json')), 'lib/cli/bin.js'),
  '1 beta': join(dirname(require.resolve('json-server-1/package.json')), 'lib/bin.js'),
};

const running: (() => Promise<void>)[] = [];
const urls = new Map<string, string>();
beforeAll(async () => {
  await Promise.all(
    Object.entries(releases).map(async ([name, bin]) => {
      urls.set(name, await start(bin));
    }),
  );
});
afterAll(async () => {
  for (const stop of running) await stop();
});

const leads = Array.from({ length: 137 }, (_, i) => ({
  id: `lead_${String(i).padStart(3, '0')}`,
  category: i % 2 === 0 ? 'solar' : 'roofing',
  createdAt: '2026-01-01T00:00:00Z',
}));

async function start(bin: string): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'leads-json-server-'));
  const file = join(directory, 'db.json');
  writeFileSync(file, JSON.stringify({ leads }));
  const port = await freePort();
  const child = spawn(process.execPath, [bin, file, '--port', String(port), '--host', '127.0.0.1'], {
    cwd: directory,
    stdio: 'ignore',
  });
  running.push(async () => {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  const url = `http://127.0.0.1:${port}`;
  const { request } = await import('undici');
  for (const until = Date.now() + 15_000; Date.now() < until;) {
    const answer = await request(`${url}/leads/${leads[0]?.id ?? ''}`).catch(() => undefined);
    await answer?.body.dump();
    if (answer?.statusCode === 200) return url;
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  throw new Error('json-server did not start');
}

describe.each([
  ['0.17', 'pages by Link header', '/leads?_page=1&_limit=20', 7],
  ['0.17', 'its own page size', '/leads?_page=1', 14],
  ['0.17', 'everything at once', '/leads', 1],
  ['1 beta', 'pages with next and last', '/leads?_page=1&_per_page=20', 7],
  ['1 beta', 'its own page size', '/leads?_page=1', 14],
  ['1 beta', 'everything at once', '/leads', 1],
])('json-server %s, %s', (release, _, path, pages) => {
  it('gives every lead once', async () => {
    const service = await serviceAt(urls.get(release) ?? '', { dialect: { path, pageSize: 20 } });
    try {
      const { ids, stats } = await walk(service, { prefetch: true });
      expect(ids).toEqual(leads.map(({ id }) => id));
      expect(stats).toMatchObject({ pages, duplicates: 0, restarts: 0 });
    } finally {
      await service.close();
    }
  });
});
