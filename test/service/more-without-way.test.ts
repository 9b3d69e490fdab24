import { describe, expect, it } from 'vitest';
import { type TestService } from '../support/service.ts';
import { replying } from '../support/replying.ts';
import { walk } from '../support/walk.ts';

const leads = Array.from({ length: 100 }, (_, i) => ({ id: `l${i}` }));
const cap = 25;

/** A service whose pages say that more follows, and not how. */
async function open(
  startOf: (query: URLSearchParams) => number,
  members: (isLast: boolean) => object,
  list: readonly object[] = leads,
): Promise<TestService> {
  const { service } = await replying(({ query }) => {
    const start = startOf(query);
    return { data: list.slice(start, start + cap), ...members(start + cap >= list.length) };
  });
  return service;
}

const byPage = (query: URLSearchParams): number => (Number(query.get('page') ?? 1) - 1) * cap;

describe('an answer that says that more follows, and not how, is followed by', () => {
  it('page where the leads have no id', async () => {
    const list = leads.map(({ id }) => ({ name: id }));
    const service = await open(byPage, (isLast) => ({ has_more: !isLast }), list);
    const { ids } = await walk(service);
    expect(ids).toHaveLength(100);
  });

  it('nothing where no parameter leads there: that is said, with a command', async () => {
    const service = await open(
      () => 0,
      () => ({ has_more: true }),
    );
    await expect(walk(service)).rejects.toMatchObject({
      message: expect.stringContaining('no parameter leads there') as string,
      hint: expect.stringContaining("'leads doctor --learn'") as string,
    });
  });

  it.each([404, 200])(
    'no page where the second one does not exist (%d), although there is more',
    async (status) => {
      const { service } = await replying(({ query, response }) => {
        const isSecond = query.get('page') === '2';
        if (isSecond) response.statusCode = status;
        return { data: isSecond ? [] : leads.slice(0, cap), has_more: !isSecond };
      });
      await expect(walk(service)).rejects.toThrow("the answer's 'has_more' may lead to more leads");
    },
  );
});
