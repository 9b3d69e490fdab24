import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { Dialect } from '../../src/config/dialect.ts';
import type { ListingOptions } from '../../src/service/listing-types.ts';
import { replying } from '../support/replying.ts';
import { mayBeCut, walk, type Walked } from '../support/walk.ts';

interface Lead {
  readonly id: string;
  readonly category: string;
  readonly status: string;
  readonly createdAt: string;
}

const hour = 3_600_000;
const newest = Date.UTC(2026, 0, 30);
const categories = ['solar', 'solar', 'roofing', 'legal', 'dental'];

/** Newest first, an hour between two of them; the status goes by age, the category by nothing. */
const list = (count: number): Lead[] =>
  Array.from({ length: count }, (_, i) => ({
    id: `l${count - i}`,
    category: categories[(i * 7) % categories.length] ?? '',
    status: i < count / 2 ? 'new' : 'sent',
    createdAt: new Date(newest - i * hour).toISOString(),
  }));

type Answer = (query: URLSearchParams, response: ServerResponse) => unknown;

async function walked(
  answer: Answer,
  options: Partial<ListingOptions> = {},
  dialect: Dialect = {},
): Promise<Walked & { requests: readonly string[]; said: string }> {
  const { server, service } = await replying(({ query, response }) => answer(query, response), { dialect });
  const result = await walk(service, options);
  return { ...result, requests: server.requests, said: service.said() };
}

const limited =
  (all: readonly Lead[], cap: number): Answer =>
  (query) =>
    all.slice(0, Math.min(cap, Number(query.get('limit') ?? cap)));

describe('a lone page without a proof', () => {
  it.each([5, 37, 50, 120, 237, 1000])(
    'of %d leads is unproven, and the hint names what decides',
    async (count) => {
      const error: unknown = await walked(() => list(count)).catch((reason: unknown) => reason);
      expect(error).toMatchObject({
        message: expect.stringContaining(mayBeCut) as string,
        hint: expect.stringMatching(/doctor --learn.*api\.params\.page.*api\.pagination none/) as string,
      });
    },
  );

  it.each([1, 2, 4])('of %d leads is unproven where as many were asked for', async (pageSize) => {
    const answer = limited(list(50), 100);
    await expect(walked(answer, {}, { pageSize })).rejects.toThrow(mayBeCut);
  });

  it('of fewer than five leads is complete', async () => {
    const { completion, said } = await walked(() => list(4));
    expect(completion).toEqual({ kind: 'complete', evidence: 'few' });
    expect(said).not.toContain('note: ');
  });
});

describe('a lone page is proven', () => {
  const all = list(100);
  const proofs: readonly (readonly [string, Answer, Partial<ListingOptions>, Dialect])[] = [
    ['by a total of the answer', () => ({ data: all, total: 100 }), {}, {}],
    ['by the count of OData', () => ({ '@odata.count': 100, value: all }), {}, {}],
    [
      'by a count that a limit of 1 shows to be a total',
      (query) => ({ data: query.get('limit') === '1' ? all.slice(0, 1) : all, count: 100 }),
      {},
      {},
    ],
  ];
  it.each(proofs)('%s', async (_, answer, options, dialect) => {
    const { completion, ids, requests, said } = await walked(answer, options, dialect);
    expect(ids).toHaveLength(100);
    expect(completion).toEqual({ kind: 'complete', evidence: 'not-paged' });
    expect(requests.length).toBeLessThanOrEqual(6);
    expect(said).not.toContain('note: ');
  });

  it('where fewer came than were asked for, of a service that honours a limit', async () => {
    const { completion } = await walked(limited(list(237), 1000));
    expect(completion).toEqual({ kind: 'complete', evidence: 'not-paged' });
    await expect(walked(limited(list(500), 120))).rejects.toThrow(mayBeCut);
  });

  it('for one run where it reaches behind the oldest lead that was asked for', async () => {
    const since = newest - 50 * hour;
    const { completion } = await walked(() => all, { query: { since } });
    expect(completion).toEqual({ kind: 'complete', evidence: 'reaches-back' });
    const oldestFirst = walked(() => all.toReversed(), { query: { since } });
    await expect(oldestFirst).rejects.toThrow(mayBeCut);
  });

  it('for one run where the oldest lead of the run before is there', async () => {
    expect((await walked(() => all, { expectedIds: ['l10', 'l11'] })).completion).toEqual({
      kind: 'complete',
      evidence: 'reaches-back',
    });
    const cut = walked(() => all.slice(0, 50), { expectedIds: ['l10', 'l90'] });
    await expect(cut).rejects.toThrow(mayBeCut);
  });
});

describe('a page that names no next one is the last', () => {
  it('where a limit of 1 brings a page that names one', async () => {
    const all = list(50);
    const byToken = (cap: number): Answer => {
      return (query) => {
        const from = Number((query.get('cursor') ?? 't0').slice(1));
        const to = from + Math.min(cap, Number(query.get('limit') ?? cap));
        return { data: all.slice(from, to), ...(to < all.length && { next_cursor: `t${to}` }) };
      };
    };
    const { completion, ids } = await walked(byToken(50));
    expect([ids.length, completion]).toEqual([50, { kind: 'complete', evidence: 'explicit-end' }]);
  });

  it('where the second page is not found, and the first one is', async () => {
    const { completion } = await walked((query, response) =>
      query.get('page') === '2' ? response.writeHead(404).end('{"error":"not_found"}') : list(25),
    );
    expect(completion).toEqual({ kind: 'complete', evidence: 'nothing-behind' });
  });

  it('not where a request for a second one fails', async () => {
    const failing = walked((query, response) =>
      query.has('page') || query.has('offset') ? response.writeHead(500).end('{"error":"no"}') : list(30),
    );
    await expect(failing).rejects.toThrow(mayBeCut);
  });
});

describe('a lone page is shown to be cut', () => {
  it('by a count that a limit of 1 shows', async () => {
    const all = list(237);
    const counted = walked((query) => {
      const page = all.slice(0, Math.min(37, Number(query.get('limit') ?? 37)));
      return { data: page, count: page.length === 1 ? 237 : page.length };
    });
    await expect(counted).rejects.toThrow('has 237 leads');
  });
});

describe('the run before', () => {
  const ended: Answer = () => ({ data: list(3), next: null });

  it('has to be met', async () => {
    expect((await walked(ended, { expectedIds: ['l0', 'l2'] })).completion?.kind).toBe('complete');
    await expect(walked(ended, { expectedIds: ['a', 'b'] })).rejects.toThrow(
      'none of the 2 newest leads of the run before came again',
    );
    await expect(walked(() => [], { expectedIds: ['a'] })).rejects.toThrow('did not come again');
  });

  it('is looked up where a filter may leave its leads out now', async () => {
    const all = list(60).map((lead) => ({ ...lead, status: lead.id > 'l3' ? 'sent' : 'new' }));
    const byStatus: Answer = (query) => ({
      data: all.filter(({ status }) => status === (query.get('status') ?? status)),
      next: null,
    });
    const query = { status: 'new' };
    const { completion, requests } = await walked(byStatus, { query, expectedIds: ['l40'] });
    expect(completion?.kind).toBe('complete');
    expect(requests).toHaveLength(2);
    await expect(walked(byStatus, { query, expectedIds: ['gone'] })).rejects.toThrow(
      'the newest lead of the run before did not come again',
    );
  });
});
