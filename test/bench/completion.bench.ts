import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { openInbox } from '../../src/inbox/open-inbox.ts';
import { systemClock } from '../../src/time/clock.ts';
import { arrivalOf } from '../support/both-sides.ts';
import { binary, environment } from '../support/listen-process.ts';
import { median, printTable, timed } from '../support/measure.ts';
import { benchLead } from '../support/page-service.ts';

/** One TAB is one process: against a node that does nothing, with an inbox of so many leads. */
const leads = Number(process.env['LEADS_BENCH_LEADS'] ?? 100_000);
const rounds = Number(process.env['LEADS_BENCH_ROUNDS'] ?? 7);
const home = mkdtempSync(join(tmpdir(), 'leads-bench-'));

beforeAll(async () => {
  const location = join(home, 'data', 'inbox.db');
  const inbox = await openInbox({ location, clock: systemClock });
  for (let from = 0; from < leads; from += 1000) {
    const bodies = Array.from({ length: Math.min(1000, leads - from) }, (_, i) => benchLead(from + i));
    await inbox.take(bodies.map((body, i) => arrivalOf(`lead_${from + i}`, Buffer.from(body), Date.now())));
  }
  await inbox.close();
}, 600_000);

it('answers TAB in three times the start of node', async () => {
  const env: NodeJS.ProcessEnv = { ...process.env, ...environment(home) };
  delete env['NODE_EXTRA_CA_CERTS'];
  delete env['NODE_OPTIONS'];
  const tab = (...asked: string[]): [string, ...string[]] => [
    process.execPath,
    binary,
    'completion',
    '--complete',
    ...asked,
  ];
  const contestants = {
    'node -e 0': [process.execPath, '-e', '0'],
    'leads ': tab('.'),
    'leads inbox show ': tab('.', 'inbox', 'show'),
    'leads list --category ': tab('.', 'list', '--category'),
    'leads list --fields ': tab('.', 'list', '--fields'),
    'leads listen --': tab('.--', 'listen'),
    'leads --profile ': tab('.', '--profile'),
  } satisfies Record<string, [string, ...string[]]>;
  const taken = new Map<string, number[]>();
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, line] of Object.entries(contestants)) {
      taken.set(name, [...(taken.get(name) ?? []), await timed(line, env)]);
    }
  }
  const wall = (name: string): number => median(taken.get(name) ?? []);
  const base = wall('node -e 0');
  const names = Object.keys(contestants);
  printTable(`TAB with ${leads} leads in the inbox, medians of ${rounds}`, [
    ['', 'ms', '× node -e 0'],
    ...names.map((name) => [name, wall(name).toFixed(1), (wall(name) / base).toFixed(2)]),
  ]);
  for (const name of names) expect(wall(name) / base, name).toBeLessThanOrEqual(3);
});
