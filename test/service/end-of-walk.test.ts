import { describe, expect, it } from 'vitest';
import { listKeptMoving } from '../../src/service/pagers/pager.ts';
import { seeded } from '../support/faulty-service.ts';
import { replying } from '../support/replying.ts';
import { walk } from '../support/walk.ts';

type Lead = { readonly id: string };
const leads = (from: number, to: number): Lead[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, i) => ({ id: `l${from + i}` }));

const [all, size] = [2000, 25];
const list = leads(0, all);
/** Where nothing counts the leads, the list is read twice. */
const mostRequests = { 'counts them': (all / size) * 1.2 + 5, 'says nothing': (all / size) * 2 + 14 };

describe('an offset walk whose pages repeat leads of the page before, which the service does not count', () => {
  const random = seeded(7);
  const places: Readonly<
    Record<string, (page: readonly Lead[], before: readonly Lead[]) => readonly Lead[]>
  > = {
    'its last ones, in front': (page, before) => [...before.slice(-3), ...page],
    'its first ones, in front': (page, before) => [...before.slice(0, 3), ...page],
    'its last ones, behind': (page, before) => [...page, ...before.slice(-3)],
    'its first ones, behind': (page, before) => [...page, ...before.slice(0, 3)],
    'any, anywhere': (page, before) => {
      const mixed = [...page];
      for (let n = 0; n < 3 && before.length > 0; n += 1) {
        const lead = before[Math.floor(random() * before.length)];
        if (lead !== undefined) mixed.splice(Math.floor(random() * mixed.length), 0, lead);
      }
      return mixed;
    },
  };
  const envelopes: Readonly<Record<'says nothing' | 'counts them', (offset: number) => object>> = {
    'says nothing': () => ({}),
    'counts them': (offset) => ({ offset, total: all }),
  };
  const rows = Object.keys(places).flatMap((place) =>
    (['says nothing', 'counts them'] as const).map((envelope) => ({ place, envelope })),
  );

  it.each(rows)(
    '$place, by a service that $envelope, needs no more requests than its list does',
    async ({ place, envelope }) => {
      const { server, service } = await replying(({ query }) => {
        const offset = Number(query.get('offset') ?? 0);
        const limit = Math.min(Number(query.get('limit') ?? size), size);
        const page = list.slice(offset, offset + limit);
        const before = list.slice(Math.max(0, offset - limit), offset);
        const repeated = page.length === 0 ? [] : places[place]?.(page, before);
        return { data: repeated ?? [], ...envelopes[envelope](offset) };
      });
      const { ids, completion } = await walk(service, { acceptUnproven: () => undefined });
      expect(new Set(ids).size).toBe(all);
      // Leads that come again at random places cannot be told from leads that move, unless they are counted.
      const isUnclear = place === 'any, anywhere' && envelope === 'says nothing';
      expect(completion).toMatchObject(isUnclear ? listKeptMoving : { kind: 'complete' });
      if (place !== 'any, anywhere') expect(server.requests.length).toBeLessThan(mostRequests[envelope]);
    },
  );
});

/** Pages that never end, as many leads of them as are new. */
const endless: Readonly<Record<string, (query: URLSearchParams, nth: number) => object>> = {
  'moves the list under every request': (query, nth) => {
    const offset = Number(query.get('offset') ?? 0) + ((nth * 37) % 90);
    return { data: list.slice(offset, offset + size), offset: Number(query.get('offset') ?? 0) };
  },
  'gives the same two pages without ids in turn': (_, nth) => ({
    data: [{ name: nth % 2 }, { name: 'x' }],
    next_cursor: `c${nth}`,
  }),
  'brings one new lead in twenty pages': (_, nth) => ({
    data: [{ id: `l${nth % 20}` }, { id: `m${Math.floor(nth / 20)}` }],
    next_cursor: `c${nth}`,
  }),
  'turns its list round under every request': (query, nth) => {
    const from = (Number(query.get('page') ?? 1) - 1) * size;
    const turned = [...list.slice((nth * 70) % 500, 500), ...list.slice(0, (nth * 70) % 500)];
    return { data: turned.slice(from, from + size), page: Number(query.get('page') ?? 1) };
  },
};

const reasons: Readonly<Record<string, string>> = {
  'moves the list under every request': 'leads kept moving',
  'gives the same two pages without ids in turn': 'the walk comes to no end',
  'brings one new lead in twenty pages': 'a page brought no new lead',
  'turns its list round under every request': 'leads kept moving',
};

describe('a walk', () => {
  it.each(Object.keys(endless))('ends within its bound where the service %s', async (name) => {
    const met = new Set<string>();
    let fruitful = 0;
    const { server, service } = await replying(({ query, nth }) => {
      const body = endless[name]?.(query, nth) as { readonly data: readonly object[] };
      const known = met.size;
      for (const lead of body.data) met.add(JSON.stringify(lead));
      if (met.size > known) fruitful += 1;
      return body;
    });
    await expect(walk(service)).rejects.toThrow(reasons[name]);
    expect(server.requests.length).toBeLessThanOrEqual(3 * fruitful + 50);
  });

  it('goes on over empty pages under a cursor that differs each time', async () => {
    const { service } = await replying(({ query }) => {
      const at = Number(query.get('cursor') ?? 0);
      return { data: at === 300 ? leads(0, 3) : [], next_cursor: at === 300 ? null : at + 1.5 };
    });
    expect(await walk(service)).toMatchObject({ ids: ['l0', 'l1', 'l2'], completion: { kind: 'complete' } });
  });
});
