import { describe, expect, it } from 'vitest';
import { freshHome, leads } from '../support/run.ts';
import { allRows } from './all-rows.ts';
import { envOf, exported } from './judge.ts';
import { serve } from './list-service.ts';
import { notYet } from './not-yet.ts';
import { caution, plainArray } from './row.ts';
import { unaidedRuns, wrongOf } from './runs.ts';

describe('an export without a profile is complete, or says that it is not:', () => {
  it.each(allRows)('$name', async (row) => {
    expect(wrongOf(await unaidedRuns(row), notYet.unaided[row.name])).toEqual([]);
  });
});

it('has a hundred services and more, each with a name of its own', () => {
  const names = new Set(allRows.map(({ name }) => name));
  expect(names.size).toBe(allRows.length);
  expect(names.size).toBeGreaterThan(100);
  expect(allRows.filter(({ invisible }) => invisible !== undefined).length).toBeLessThanOrEqual(4);
});

it('names a command that ends an alarm which nothing else can end', async () => {
  const service = await serve(caution('all', {}, plainArray), 20);
  const home = freshHome();
  const first = await exported({ service, home });
  expect(first).toMatchObject({
    exitCode: 6,
    stderr: expect.stringContaining('api.pagination none') as string,
  });
  await leads(['config', 'set', 'api.pagination', 'none'], { env: envOf(service), home });
  expect(await exported({ service, home })).toMatchObject({ exitCode: 0, stderr: '' });
  await service.close();
});
