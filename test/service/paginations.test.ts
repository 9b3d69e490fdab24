import { describe, expect, it, onTestFinished } from 'vitest';
import type { Dialect } from '../../src/config/dialect.ts';
import { type SandboxOptions, startSandbox } from '../../src/sandbox/start-sandbox.ts';
import type { Position } from '../../src/service/pagers/position.ts';
import { IdSet } from '../../src/lead/id-set.ts';
import { FakeClock } from '../support/clock.ts';
import { openedAt } from '../support/replying.ts';
import { walk } from '../support/walk.ts';

async function sandbox(options: SandboxOptions, dialect: Dialect = {}) {
  const box = await startSandbox({ leads: 73, maxLimit: 10, ...options }, { clock: new FakeClock() });
  onTestFinished(() => box.close());
  const service = await openedAt(box.url, { dialect });
  const all = [...box.leads].map((lead) => lead.id);
  return { box, service, all: (options.order ?? 'newest') === 'newest' ? all.reverse() : all };
}

const nextFields = [
  'nextCursor',
  'next_cursor',
  'meta.next_cursor',
  'meta.pagination.nextCursor',
  'pagination.next',
  'paging.cursors.after',
  'page_info.end_cursor',
  'next',
];

/** Every pagination that `auto` recognises: the sandbox's options and, where a name is unusual, the dialect. */
const recognised: [string, SandboxOptions, Dialect?][] = [
  ['Link header, root array', { pagination: 'link', envelope: 'none' }],
  ['Link header, envelope', { pagination: 'link', envelope: 'leads' }],
  ...nextFields.map((nextField): [string, SandboxOptions, Dialect?] => [
    `cursor at ${nextField}`,
    {
      nextField,
      params: { cursor: /after|end_cursor/.test(nextField) ? 'after' : 'cursor' },
    },
  ]),
  ['next as an absolute URL', { next: 'url' }],
  ['next as a URL in links', { next: 'url', nextField: 'links.next', envelope: 'data' }],
  ['next as a path', { next: 'path', nextField: 'paging.next' }],
  ['has_more with the last id', { next: 'id' }],
  [
    'hasMore with the last id',
    { next: 'id', nextField: 'meta.hasMore', params: { cursor: 'starting_after' } },
    { params: { cursor: 'starting_after' } },
  ],
  ['page with a total', { pagination: 'page' }],
  ['page without a total', { pagination: 'page', totals: false }],
  ['next page as a number', { pagination: 'page', next: 'number' }],
  ['next as a number', { pagination: 'page', next: 'number', nextField: 'next' }],
  ['next page as a URL', { pagination: 'page', next: 'url' }],
  ['offset with a total', { pagination: 'offset' }],
  ['offset without a total', { pagination: 'offset', totals: false }],
  ['next offset as a number', { pagination: 'offset', next: 'number' }],
  ['root array of pages, named', { pagination: 'page', envelope: 'none' }, { pagination: 'page' }],
  ['root array of offsets, named', { pagination: 'offset', envelope: 'none' }, { pagination: 'offset' }],
  [
    'other parameter names, in the path',
    { pagination: 'page', params: { page: '_page', limit: '_per_page' } },
    { path: '/api/leads?_page=1&_per_page=7' },
  ],
  [
    'other parameter names, configured',
    { pagination: 'offset', params: { offset: 'skip', limit: 'take' } },
    { params: { offset: 'skip', limit: 'take' } },
  ],
  ['an envelope in an envelope', { envelope: 'data.leads', nextField: 'data.next_cursor' }],
  ['everything on one page', { pagination: 'none' }],
  ['everything in a root array', { pagination: 'none', envelope: 'none' }],
];

describe.each(recognised)('%s', (_, options, dialect) => {
  it('gives every lead once', async () => {
    const { service, all } = await sandbox(options, dialect);
    const { ids, stats } = await walk(service, { prefetch: true });
    expect(ids).toEqual(all);
    expect(stats).toMatchObject({ leads: 73, duplicates: 0, retries: 0 });
    expect(service.said()).not.toContain('note: ');
  });

  it('goes on from every position', async () => {
    const { service, all } = await sandbox(options, dialect);
    const { positions, counts } = await walk(service);
    for (const [i, at] of positions.entries()) {
      if (at === undefined) continue;
      const stored = JSON.parse(JSON.stringify(at)) as Position;
      const seen = new IdSet();
      for (const id of all.slice(0, counts[i])) seen.preload(id);
      expect((await walk(service, { from: stored, seen })).ids).toEqual(all.slice(counts[i]));
    }
    const inside = counts.filter((count, i) => positions[i] !== undefined && count < all.length);
    expect(new Set(inside).size).toBe(inside.length);
  });

  it('keeps the order when positions are fetched at once', async () => {
    const { service, all } = await sandbox(options, dialect);
    const { ids } = await walk(service, { concurrency: 4, prefetch: true });
    expect(ids).toEqual(all);
  });

  it('can be empty', async () => {
    const { service } = await sandbox({ ...options, leads: 0 }, dialect);
    expect((await walk(service)).ids).toEqual([]);
  });
});
