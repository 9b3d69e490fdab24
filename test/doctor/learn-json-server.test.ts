import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type JsonServerRelease, startJsonServer } from '../support/json-server.ts';
import { freshHome, leads } from '../support/run.ts';
import { diagnose, exportedIds } from './support.ts';

const records = Array.from({ length: 137 }, (_, i) => ({
  id: `lead_${String(i).padStart(3, '0')}`,
  category: ['solar', 'roofing', 'legal'][i % 3],
  status: i % 2 === 0 ? 'new' : 'sent',
  createdAt: new Date(Date.UTC(2026, 0, 1) + i * 3_600_000).toISOString(),
}));

type JsonServer = Awaited<ReturnType<typeof startJsonServer>>;
const running = new Map<JsonServerRelease, JsonServer>();
beforeAll(async () => {
  const releases = ['0.17', '1 beta'] as const;
  const servers = await Promise.all(releases.map((release) => startJsonServer(release, records)));
  releases.forEach((release, i) => running.set(release, servers[i] as JsonServer));
});
afterAll(async () => {
  for (const service of running.values()) await service.close();
});

describe.each<[JsonServerRelease, string, object]>([
  [
    '0.17',
    '/leads',
    { params: { limit: '_limit', page: '_page', since: 'createdAt_gte', until: 'createdAt_lte' } },
  ],
  ['0.17', '/leads?_page=1', { params: { limit: '_limit' }, pagination: 'link' }],
  ['0.17', '/leads?_page=1&_limit=20', { params: { limit: '_limit' }, pagination: 'link' }],
  ['1 beta', '/leads', { params: { limit: '_limit', offset: '_start' } }],
  ['1 beta', '/leads?_page=1', { params: { limit: '_limit', offset: '_start' } }],
  [
    '1 beta',
    '/leads?_page=1&_per_page=20',
    { params: { limit: '_per_page', page: '_page' }, pagination: 'page' },
  ],
])('doctor --learn at json-server %s, %s', (release, path, dialect) => {
  it('writes what makes an export complete', async () => {
    const url = running.get(release)?.url ?? '';
    const home = freshHome();
    await leads(['config', 'set', 'api.path', path], { home });
    const found = await diagnose({ url, home }, '--learn');
    expect(found.exitCode).toBe(0);
    expect(found.lines.at(-1)?.requests).toBeLessThanOrEqual(25);
    expect(found.dialect).toMatchObject(dialect);
    expect((await exportedIds({ url }, home)).toSorted()).toEqual(records.map(({ id }) => id));
  });
});
