import { describe, expect, it } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/start-sandbox.ts';
import { diagnose, exportedIds, sandboxWith } from './support.ts';

const renamed = {
  limit: 'per_page',
  status: 'state',
  category: 'vertical',
  since: 'created_after',
  until: 'created_before',
  cursor: 'page_token',
  page: 'p',
  offset: 'skip',
};

const styles: readonly (readonly [string, SandboxOptions])[] = [
  ['cursor', {}],
  ['cursor, oldest first', { order: 'oldest' }],
  ['next URL', { next: 'url' }],
  ['next path', { next: 'path' }],
  ['last id', { next: 'id' }],
  ['nested cursor', { nextField: 'meta.next_cursor', envelope: 'results' }],
  ['cursor of another name', { nextField: 'paging.cursors.after', envelope: 'leads' }],
  ['page', { pagination: 'page' }],
  ['page without totals', { pagination: 'page', totals: false }],
  ['page number in the body', { pagination: 'page', next: 'number' }],
  ['page, bare array', { pagination: 'page', envelope: 'none' }],
  ['offset', { pagination: 'offset' }],
  ['offset without totals', { pagination: 'offset', totals: false }],
  ['offset, bare array', { pagination: 'offset', envelope: 'none' }],
  ['Link header', { pagination: 'link' }],
  ['Link header, bare array', { pagination: 'link', envelope: 'none' }],
  ['no pages', { pagination: 'none' }],
  ['no pages, bare array', { pagination: 'none', envelope: 'none' }],
];

const caps = [10, 15, 50, 100, 500];

describe('doctor --learn', () => {
  it.each(styles)('writes what makes an export complete: %s, renamed', async (_name, style) => {
    const cap = caps[styles.findIndex(([, one]) => one === style) % caps.length] ?? 10;
    const sandbox = await sandboxWith({
      leads: cap * 2 + 41,
      maxLimit: cap,
      defaultLimit: Math.min(cap, 20),
      statusField: 'deliveryState',
      params: renamed,
      ...style,
    });
    try {
      const found = await diagnose(sandbox, '--learn');
      expect([found.exitCode, found.lines.at(-1)?.requests]).toEqual([0, expect.any(Number)]);
      expect(found.lines.at(-1)?.requests).toBeLessThanOrEqual(25);
      expect(sandbox.state.requests.length).toBeLessThanOrEqual(25);
      const isPaged = style.pagination !== 'none';
      if (isPaged) {
        expect(found.learnt('params.limit')).toBe('per_page');
        expect(found.learnt('page-size')).toBe(cap);
      }
      expect(found.learnt('params.status')).toBe('state');
      expect(found.learnt('status-field')).toBe('deliveryState');
      expect(found.learnt('params.category')).toBe('vertical');
      expect(found.learnt('params.since')).toBe('created_after');
      expect(found.learnt('params.until')).toBe('created_before');
      const ids = await exportedIds(sandbox, found.home);
      expect(ids.toSorted()).toEqual([...sandbox.leads].map(({ id }) => id).toSorted());
    } finally {
      await sandbox.close();
    }
  });

  it.each([20, 100, 250])(
    'keeps the end of a list provable that fits on one page (%i leads)',
    async (count) => {
      for (const style of [{ pagination: 'link' }, { pagination: 'link', envelope: 'none' }] as const) {
        const sandbox = await sandboxWith({ leads: count, maxLimit: 500, defaultLimit: 15, ...style });
        const found = await diagnose(sandbox, '--learn');
        expect(found.learnt('next-seen')).toBe(true);
        const ids = await exportedIds(sandbox, found.home);
        await sandbox.close();
        expect(ids).toHaveLength(count);
      }
    },
  );
});
