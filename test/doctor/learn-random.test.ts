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

it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])(
  'writes nothing that is not so, whatever the service calls its parameters, in 25 requests (seed %i)',
  async (seed) => {
    const options = drawn(seed);
    const sandbox = await sandboxWith(options);
    const diagnosis = await diagnose(sandbox, '--learn');
    expect(sandbox.state.requests.length).toBeLessThanOrEqual(25);
    for (const { key, value } of diagnosis.lines) {
      const parameter = /^api\.params\.(.*)$/.exec(key ?? '')?.[1];
      if (parameter !== undefined) expect([key, value]).toEqual([key, options.params[parameter]]);
      if (key === 'api.pagination') expect(value).toBe(options.pagination);
    }
    // Of one answer, nothing proves that it is all but a person's word.
    const isLone = options.pagination === 'none';
    expect(diagnosis.check('dialect.pagination')?.result).toBe(isLone ? 'warn' : 'pass');
    const words = isLone ? ['--accept-incomplete'] : [];
    const ids = await exportedIds(sandbox, diagnosis.home, ...words);
    await sandbox.close();
    expect(ids.toSorted()).toEqual([...sandbox.leads].map(({ id }) => id).toSorted());
  },
);
