import { expect, it } from 'vitest';
import { replying } from '../support/replying.ts';
import { walk } from '../support/walk.ts';

const rows = Array.from({ length: 237 }, (_, i) => {
  const id = `l-${String(i).padStart(3, '0')}`;
  const createdAt = new Date(Date.UTC(2026, 0, 1) + i * 60_000).toISOString();
  return {
    id,
    key: id,
    value: { rev: `1-${i}` },
    doc: { _id: id, _rev: `1-${i}`, createdAt, category: 'solar' },
  };
});

it('reads the documents of CouchDB, a page after the other, by the id beside them', async () => {
  const { service } = await replying(
    ({ query }) => {
      const offset = Number(query.get('skip') ?? 0);
      const page = rows.slice(offset, offset + Math.min(50, Number(query.get('limit') ?? 50)));
      return { total_rows: rows.length, offset, rows: page };
    },
    { dialect: { path: '/leads/_all_docs?include_docs=true' } },
  );
  const { ids, completion } = await walk(service);
  expect(ids).toEqual(rows.map(({ id }) => id));
  expect(completion?.kind).toBe('complete');
});
