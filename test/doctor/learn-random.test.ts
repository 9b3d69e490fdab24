import { expect, it } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/start-sandbox.ts';
import { drawFor } from '../../src/sandbox/data/seeded-random.ts';
import { diagnose, exportedIds, sandboxWith } from './support.ts';

const choices = {
  limit: ['limit', 'per_page', 'pageSize', 'size', 'take', 'first', null],
  page: ['page', 'p', 'pageNumber', 'page[number]', 'page_index'],
  offset: ['offset', 'skip', 'start', 'from'],
  cursor: ['cursor', 'after', 'page_token', 'token', 'starting_after'],
  status: ['status', 'state', 'stage', null],
  category: ['category', 'type', 'categories', null],
  since: ['since', 'from_date', 'createdAt[gte]', 'start_time', null],
  until: ['until', 'to_date', 'createdAt[lt]', 'end_time', null],
} as const;

/** A sandbox whose looks are drawn. */
function drawn(seed: number): SandboxOptions & { params: Record<string, string | null> } {
  const pick = <T>(what: string, of: readonly T[]): T => of[Math.floor(drawFor(seed, what) * of.length)] as T;
  const pagination = pick('pagination', ['cursor', 'page', 'offset', 'link', 'none'] as const);
  return {
    seed,
    pagination,
    leads: pick('leads', [43, 251, 613]),
    envelope: pick(
      'envelope',
      pagination === 'cursor' ? ['data', 'result.items'] : ['data', 'none', 'records'],
    ),
    totals: pick('totals', [true, false]),
    order: pick('order', ['newest', 'oldest'] as const),
    maxLimit: pick('cap', [10, 17, 100, 500]),
    defaultLimit: pick('default', [10, 15]),
    params: Object.fromEntries(Object.entries(choices).map(([name, names]) => [name, pick(name, names)])),
  };
}

it('writes nothing that is not so, whatever the service calls its parameters, in 25 requests', async () => {
  let found = 0;
  for (let seed = 1; seed <= 10; seed += 1) {
    const options = drawn(seed);
    const sandbox = await sandboxWith(options);
    const diagnosis = await diagnose(sandbox, '--learn');
    expect(sandbox.state.requests.total).toBeLessThanOrEqual(25);
    for (const { key, value } of diagnosis.lines) {
      const parameter = /^api\.params\.(.*)$/.exec(key ?? '')?.[1];
      if (parameter !== undefined) expect([seed, key, value]).toEqual([seed, key, options.params[parameter]]);
      if (key === 'api.pagination') expect([seed, value]).toEqual([seed, options.pagination]);
    }
    if (diagnosis.check('dialect.pagination')?.result === 'pass') {
      found += 1;
      const ids = await exportedIds(sandbox, diagnosis.home);
      expect([seed, ids.toSorted()]).toEqual([seed, [...sandbox.leads].map(({ id }) => id).toSorted()]);
    }
    await sandbox.close();
  }
  expect(found).toBeGreaterThanOrEqual(9);
});
