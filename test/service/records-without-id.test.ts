import { expect, it } from 'vitest';
import { listLeads } from '../../src/service/listing.ts';
import { replying } from '../support/replying.ts';

const size = 10;
/** Three of them are the same. */
const list = Array.from({ length: 23 }, (_, nth) => ({ name: nth % 9 === 4 ? 'same' : `n-${nth}` }));

it.each(['page', 'offset'])(
  'records without an id come once, however often a list of numbered pages is read: %s',
  async (style) => {
    const { service } = await replying(({ query }) => {
      const at = query.get(style);
      const from = style === 'page' ? (Number(at ?? 1) - 1) * size : Number(at ?? 0);
      const leads = list.slice(from, from + size);
      return style === 'page' ? { leads, page: from / size + 1, total_pages: 3 } : { leads, offset: from };
    });
    const pages = listLeads(service, { query: {} });
    const names: string[] = [];
    for await (const { leads } of pages) {
      names.push(...leads.map(({ bytes }) => (JSON.parse(String(bytes)) as { name: string }).name));
    }
    expect(names).toEqual(list.map(({ name }) => name));
    expect(pages.stats).toMatchObject({ leads: 23, withoutId: 23 });
  },
);
