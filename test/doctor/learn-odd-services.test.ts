import { describe, expect, it } from 'vitest';
import { FakeClock } from '../support/clock.ts';
import { freshHome, leads } from '../support/run.ts';
import { scripted, sendJson } from '../support/service.ts';
import { diagnose, expectUndecidedPagination, exportedIds, type Lead, records, serving } from './support.ts';

const all = records(130);

/** The page that `limit` and `page` ask for. */
function paged(query: URLSearchParams, list: readonly Lead[] = all): { data: Lead[]; isMore: boolean } {
  const size = Math.min(100, Number(query.get('limit') ?? 20));
  const at = (Number(query.get('page') ?? 1) - 1) * size;
  return { data: list.slice(at, at + size), isMore: at + size < list.length };
}

describe('doctor --learn', () => {
  it('ends its questions at a rate limit that lasts, whatever was asked when it came', async () => {
    for (let allowed = 1; allowed <= 12; allowed += 1) {
      const clock = new FakeClock(Date.now(), { hasty: true });
      const service = await scripted((request, response, nth) => {
        const { data } = paged(new URL(request.url ?? '/', 'http://localhost').searchParams);
        if (nth < allowed) sendJson(response, { data });
        else response.writeHead(429, { 'retry-after': '3600' }).end();
      });
      const startedAt = clock.now();
      const found = await diagnose({ url: service.url, clock }, '--learn');
      await service.close();
      expect([allowed, found.exitCode]).toEqual([allowed, 0]);
      expect(clock.now() - startedAt).toBeLessThan(600_000);
      expect(found.lines.filter(({ value }) => value === null || value === 'none')).toEqual([]);
      expect(found.said('dialect.rate-limit')).toMatch(/^warn: .*hint: .*again in (1h 0m|59m|60m)/);
    }
  });

  it('takes a refused parameter for no refused key', async () => {
    const service = await serving((query) =>
      [...query.keys()].some((name) => /[[$]/.test(name)) ? 403 : { data: paged(query).data },
    );
    const found = await diagnose({ url: service.url }, '--learn');
    const ids = await exportedIds({ url: service.url }, found.home);
    await service.close();
    expect(found.check('service.key')?.result).toBe('pass');
    expect(found.dialect).toMatchObject({ pagination: 'page', params: { limit: 'limit', page: 'page' } });
    expect(ids).toHaveLength(130);
  });

  it('does not send a category any more that the service answers without the leads of it', async () => {
    const service = await serving((query) => {
      const number = query.get('category');
      const list = all.filter((_, i) => number === null || String(i % 2) === number);
      return { data: paged(query, list).data };
    });
    const found = await diagnose({ url: service.url }, '--learn');
    const ids = await exportedIds({ url: service.url }, found.home, '--category', 'solar');
    await service.close();
    expect(found.dialect.params?.category).toBeNull();
    expect(ids).toHaveLength(65);
  });

  it('replaces a time filter that was set by hand and empties the list, and says what it was', async () => {
    const home = freshHome();
    await leads(['config', 'set', 'api.params.since', 'version'], { home });
    const service = await serving((query) => ({ data: query.has('version') ? [] : paged(query).data }));
    const found = await diagnose({ url: service.url, home }, '--learn');
    const ids = await exportedIds({ url: service.url }, home, '--since', '2026-01-02');
    await service.close();
    expect(found.lines.find(({ key }) => key === 'api.params.since')).toMatchObject({
      value: null,
      old: 'version',
    });
    expect(ids).toHaveLength(106);
  });

  it('affirms no single page where a position empties it, or the answer names its end', async () => {
    const few = all.slice(0, 7);
    const silent = await serving((query) => (Number(query.get('page') ?? 1) > 1 ? [] : few));
    const ending = await serving(() => ({ data: few, next_cursor: null }));
    for (const service of [silent, ending]) {
      await expectUndecidedPagination(service, 'run it again when there are more');
    }
  });

  it('keeps what was proven of a filter when its requests come to an end', async () => {
    const few = all.slice(0, 41).map((lead, i) => ({ ...lead, status: ['new', 'sent'][i % 2] }));
    const service = await serving((query) => (query.size > 0 ? 400 : few));
    const found = await diagnose({ url: service.url }, '--learn');
    expect(service.requests).toHaveLength(25);
    const words = ['--category', 'solar', '--accept-incomplete'];
    const ids = await exportedIds({ url: service.url }, found.home, ...words);
    await service.close();
    expect(found.dialect.params).toMatchObject({ limit: null, status: null, category: null });
    expect(ids).toHaveLength(21);
  });
});

describe('doctor', () => {
  it('counts the time that an answer lay in a cache before it compares the clocks', async () => {
    const service = await scripted((_, response) => {
      const date = new Date(Date.now() - 600_000).toUTCString();
      sendJson(response, { data: [] }, { date, age: '600' });
    });
    const found = await diagnose({ url: service.url });
    await service.close();
    expect(found.check('service.clock')).toMatchObject({ result: 'pass' });
  });

  it('says of a service that did not answer nothing about its clock', async () => {
    const page = await scripted((_, response) => {
      const date = new Date(Date.now() + 600_000).toUTCString();
      response.writeHead(200, { 'content-type': 'text/html', date }).end('<html>');
    });
    const found = await diagnose({ url: page.url });
    await page.close();
    const gone = await diagnose({ url: page.url, env: {} }, '--retries', '0');
    expect(found.check('service.clock')?.result).toBe('fail');
    expect(gone.check('service.clock')).toMatchObject({
      result: 'skip',
      detail: 'the service did not answer',
    });
  });
});
