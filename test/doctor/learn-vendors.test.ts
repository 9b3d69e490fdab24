import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scripted, type Scripted } from '../support/service.ts';
import { leadCount, leadIds, vendors } from '../support/vendor-services.ts';
import { diagnose, exportedIds } from './support.ts';

const services = new Map<string, Scripted>();
beforeAll(async () => {
  for (const { name, answer } of vendors) {
    const service = await scripted((request, response) => {
      const url = new URL(request.url ?? '/', `http://${request.headers.host ?? ''}`);
      const { status = 200, headers = {}, body } = answer(url.searchParams, url);
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(body === undefined ? undefined : JSON.stringify(body));
    });
    services.set(name, service);
  }
});
afterAll(async () => {
  for (const service of services.values()) await service.close();
});

describe('doctor --learn at mocks of vendors', () => {
  it.each(vendors.map(({ name }) => name))('writes what makes an export complete: %s', async (name) => {
    const service = services.get(name);
    const url = service?.url ?? '';
    const found = await diagnose({ url }, '--learn');
    expect(found.exitCode).toBe(0);
    expect(service?.requests.length).toBeLessThanOrEqual(25);
    // None of them filters: what takes a position must not be taken for a time.
    const { status, category, since, until } = found.dialect.params ?? {};
    expect([status ?? null, category ?? null, since, until]).toEqual([null, null, undefined, undefined]);
    const ids = await exportedIds({ url }, found.home);
    expect(ids.toSorted()).toEqual(leadIds.toSorted());
    expect(ids).toHaveLength(leadCount);
  });
});
