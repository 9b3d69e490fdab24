import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serviceAt } from '../support/service.ts';
import { startJsonServer } from '../support/json-server.ts';
import { walk } from '../support/walk.ts';

const running: (() => Promise<void>)[] = [];
const urls = new Map<string, string>();
beforeAll(async () => {
  await Promise.all(
    (['0.17', '1 beta'] as const).map(async (release) => {
      const { url, close } = await startJsonServer(release, leads);
      running.push(close);
      urls.set(release, url);
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

describe.each([
  ['0.17', 'pages by Link header', '/leads?_page=1&_limit=20', 7],
  ['0.17', 'its own page size', '/leads?_page=1', 14],
  ['0.17', 'everything at once', '/leads', 1],
  ['1 beta', 'pages with next and last', '/leads?_page=1&_per_page=20', 7],
  ['1 beta', 'its own page size', '/leads?_page=1', 14],
])('json-server %s, %s', (release, _, path, pages) => {
  it('gives every lead once', async () => {
    const service = await serviceAt(urls.get(release) ?? '', { dialect: { path, pageSize: 20 } });
    try {
      const { ids, stats } = await walk(service, { prefetch: true });
      expect(ids).toEqual(leads.map(({ id }) => id));
      expect(stats).toMatchObject({ pages, duplicates: 0 });
    } finally {
      await service.close();
    }
  });
});
