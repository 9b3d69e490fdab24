import { createHmac } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { median, printTable, timed } from '../support/measure.ts';
import { type PageService, servePages } from '../support/page-service.ts';

const bin = fileURLToPath(new URL('../../bin/leads.js', import.meta.url));
const rounds = Number(process.env['LEADS_BENCH_ROUNDS'] ?? 25);

let service: PageService;
beforeAll(async () => {
  service = await servePages({ leads: 20, pageSize: 20, pagination: 'cursor' });
});
afterAll(() => service.close());

const hasGh = spawnSync('gh', ['--version']).status === 0;

it('starts as fast as it may', async () => {
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    HOME: mkdtempSync(join(tmpdir(), 'leads-bench-')),
    LEADS_BASE_URL: service.url,
    LEADS_API_KEY: 'bench-key-0123456789',
  };
  // node 20 reads it at every start, which costs as much again as the whole of node.
  delete env['NODE_EXTRA_CA_CERTS'];
  delete env['NODE_OPTIONS'];
  const capture = join(mkdtempSync(join(tmpdir(), 'leads-bench-')), 'capture.http');
  const signature = createHmac('sha256', 'bench-secret').update('{"id": "lead_1"}').digest('hex');
  writeFileSync(capture, `POST / HTTP/1.1\nX-Hub-Signature-256: sha256=${signature}\n\n{"id": "lead_1"}`);
  const contestants: Readonly<Record<string, readonly [string, ...string[]]>> = {
    'node -e 0': [process.execPath, '-e', '0'],
    'leads --version': [process.execPath, bin, '--version'],
    'leads --help': [process.execPath, bin, '--help'],
    'leads list --help': [process.execPath, bin, 'list', '--help'],
    'leads list, 20 leads': [process.execPath, bin, 'list'],
    'leads verify, one capture': [process.execPath, bin, 'verify', capture, '--secret', 'bench-secret'],
    ...(hasGh && { 'gh api, the same page': ['gh', 'api', `${service.url}/api/leads`] as const }),
  };
  const taken = new Map<string, number[]>();
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, line] of Object.entries(contestants)) {
      taken.set(name, [...(taken.get(name) ?? []), await timed(line, env)]);
    }
  }
  const wall = (name: string): number => median(taken.get(name) ?? []);
  const base = wall('node -e 0');
  printTable(`start, medians of ${rounds}`, [
    ['', 'ms', '× node -e 0'],
    ...Object.keys(contestants).map((name) => [name, wall(name).toFixed(1), (wall(name) / base).toFixed(2)]),
  ]);
  expect(wall('leads --version') / base).toBeLessThanOrEqual(1.3);
  expect(wall('leads --help') / base).toBeLessThanOrEqual(1.3);
  expect(wall('leads verify, one capture') / base).toBeLessThanOrEqual(4);
  // The aim is 2.4 on node 24 and 26, where CPU is 2.3 to 2.4; 2.6 on node 20.
  expect(wall('leads list, 20 leads') / base).toBeLessThanOrEqual(3.2);
});
