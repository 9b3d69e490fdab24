import { afterEach, describe, expect, it } from 'vitest';
import { type Scripted, scripted, sendJson, serviceAt, type TestService } from '../support/service.ts';
import { walk } from '../support/walk.ts';

let server: Scripted;
let service: TestService;
afterEach(async () => {
  await service.close();
  await server.close();
});

const leads = Array.from({ length: 100 }, (_, i) => ({ id: `l${i}` }));
const cap = 25;

/** A service whose pages say that more follows, and not how. */
async function open(
  startOf: (query: URLSearchParams) => number,
  members: (isLast: boolean) => object,
  list: readonly object[] = leads,
): Promise<void> {
  server = await scripted((request, response) => {
    const start = startOf(new URL(request.url ?? '', 'http://localhost').searchParams);
    sendJson(response, { data: list.slice(start, start + cap), ...members(start + cap >= list.length) });
  });
  service = await serviceAt(server.url);
}

const byPage = (query: URLSearchParams): number => (Number(query.get('page') ?? 1) - 1) * cap;
const byOffset = (query: URLSearchParams): number => Number(query.get('offset') ?? 0);

describe('an answer that says that more follows, and not how, is followed by', () => {
  it.each([
    ['page', 'has_more', byPage],
    ['page', 'is_last_page', byPage],
    ['offset', 'has_more', byOffset],
    ['offset', 'is_last_page', byOffset],
  ])('%s, as %s says', async (_, name, startOf) => {
    await open(startOf, (isLast) => ({ [name]: (name === 'has_more') !== isLast }));
    const { ids, completion } = await walk(service);
    expect(ids).toEqual(leads.map(({ id }) => id));
    expect(completion).toMatchObject({ kind: 'complete' });
  });

  it('page where the leads have no id', async () => {
    const list = leads.map(({ id }) => ({ name: id }));
    await open(byPage, (isLast) => ({ has_more: !isLast }), list);
    const { ids } = await walk(service);
    expect(ids).toHaveLength(100);
  });

  it('nothing where no parameter leads there: that is said, with a command', async () => {
    await open(
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
      server = await scripted((request, response) => {
        const { searchParams } = new URL(request.url ?? '', 'http://localhost');
        const isSecond = searchParams.get('page') === '2';
        const body = { data: isSecond ? [] : leads.slice(0, cap), has_more: !isSecond };
        response.writeHead(isSecond ? status : 200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(body));
      });
      service = await serviceAt(server.url);
      await expect(walk(service)).rejects.toMatchObject({ code: 'incomplete' });
    },
  );
});
