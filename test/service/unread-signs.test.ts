import { describe, expect, it } from 'vitest';
import type { Dialect } from '../../src/config/dialect.ts';
import { IdSet } from '../../src/lead/id-set.ts';
import { openedAt, replying } from '../support/replying.ts';
import { walk } from '../support/walk.ts';

interface Answer {
  readonly body: object;
  readonly headers?: Record<string, string>;
  readonly status?: number;
  /** Where the first request is redirected to. */
  readonly location?: string;
}

const leads = (count: number, from = 0): { id: string }[] =>
  Array.from({ length: count }, (_, i) => ({ id: `l${from + i}` }));

/** What the end of a walk over a service that gives one answer to every request says: its evidence, or the error. */
const endOf = async (answer: Answer, dialect: Dialect = {}): Promise<string> =>
  (await endAndNotes(answer, dialect)).end;

async function endAndNotes(
  { body, headers = {}, status = 200, location }: Answer,
  dialect: Dialect = {},
): Promise<{ readonly end: string; readonly said: string }> {
  const { service } = await replying(
    ({ request, response }) => {
      const isRedirected = location !== undefined && request.url?.startsWith('/api/leads?') === true;
      if (isRedirected) return response.writeHead(308, { location }).end();
      return response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify(body));
    },
    { dialect },
  );
  try {
    const { completion } = await walk(service);
    const end = completion?.kind === 'complete' ? `complete: ${completion.evidence}` : 'unproven';
    return { end, said: service.said() };
  } catch (error) {
    return { end: (error as Error).message, said: service.said() };
  }
}

const data = leads(23);

describe('one page is not taken for everything', () => {
  it.each<readonly [name: string, beside: object]>([
    [
      'nxt.marker',
      { paging: { nextMarkerToken: '', marker_next: null }, cursor_info: { continuation_mark: 'c2' } },
    ],
    ['continuationState', { continuationState: 'abc' }],
    ['startAfter', { startAfter: 'l22' }],
    ['lastEvaluated', { lastEvaluatedId: { id: { S: 'l22' } } }],
    ['max_id', { search_metadata: { max_id: 250126 } }],
    ['token', { token: 'eyJvIjoyM30=' }],
    ['nextBatch', { nextBatch: 's72594' }],
    ['load_more', { links: { load_more: '/api/leads/more/2' } }],
    ['more_url', { more_url: '/more?x=2' }],
    ['has_more_results', { has_more_results: true }],
    ['moreAvailable', { meta: { moreAvailable: true } }],
    ['relation', { hits_info: { total: { value: 23, relation: 'gte' } } }],
  ])('where %s leads on', async (_, beside) => {
    expect(await endOf({ body: { data, ...beside } })).toContain('may lead to more leads');
  });

  it.each<readonly [Record<string, string>]>([
    [{ 'x-ms-continuation': 'abc' }],
    [{ 'x-scroll-id': 'abc' }],
    [{ 'x-pagination-next-key': '23' }],
    [{ link: '</api/leads?from=23>; rel="https://service.example/rels/next"' }],
  ])('where the headers %j lead on', async (headers) => {
    expect(await endOf({ body: data, headers })).toContain('may lead to more leads');
  });

  it.each<readonly [string, Answer]>([
    ['recordsTotal', { body: { data, recordsTotal: 109 } }],
    ['lead_count', { body: { data, meta: { lead_count: 109 } } }],
    ['X-Pagination-Total-Hits', { body: data, headers: { 'x-pagination-total-hits': '109' } }],
    ['total_leads, of each page that is asked for,', { body: { data, page: 1, total_leads: 109 } }],
    ['total_leads, of each offset that is asked for,', { body: { data, offset: 0, total_leads: 109 } }],
  ])('where %s counts more', async (_, answer) => {
    expect(await endOf(answer)).toContain('has 109 leads');
  });

  it('but not where a truth or a list has the name of a count', async () => {
    expect(await endOf({ body: { data: [], found: true } })).toContain('complete');
    expect(await endOf({ body: { data, matched: ['109'] } })).not.toContain('109');
  });

  it('where a redirect dropped the query', async () => {
    expect(await endOf({ body: data, location: '/api/leads/' })).toContain("drops the parameter 'limit'");
  });

  it.each<readonly [string, Dialect]>([
    ['api.next', { next: '/meta/next' }],
    ['api.pagination', { pagination: 'cursor' }],
    ['api.pagination', { pagination: 'link' }],
  ])('where the setting %s has no effect', async (setting, dialect) => {
    expect(await endOf({ body: { data } }, dialect)).toContain(
      `${setting} says where the next page is named`,
    );
    expect(await endOf({ body: { data: leads(3) } }, dialect)).toContain('complete');
    expect(await endOf({ body: { data } }, { ...dialect, nextSeen: true })).toBe('complete: explicit-end');
  });

  describe('though a missing next page was learnt to be the end', () => {
    const learnt: Dialect = { pagination: 'cursor', next: '/meta/next', nextSeen: true };

    it.each<readonly [sign: string, answer: Partial<Answer>]>([
      ["'meta.next_cursor'", { body: { meta: { next_cursor: 'abc' } } }],
      ["'meta.next'", { body: { meta: { next: { of: 'abc' } } } }],
      ["'links.more'", { body: { links: { more: '/api/leads/more/2' } } }],
      ["header 'x-ms-continuationtoken'", { headers: { 'x-ms-continuationtoken': 'abc' } }],
    ])('where %s leads on', async (sign, { body, headers = {} }) => {
      const end = await endOf({ body: { data: leads(100), ...body }, headers }, learnt);
      expect(end).toContain(`${sign} may lead to more leads`);
    });

    it.each<readonly [string, Partial<Answer>, Dialect]>([
      ['nothing', {}, {}],
      ['a null', { body: { meta: { next_cursor: null, next_page: '' } } }, {}],
      ['a cursor of the page itself', { body: { paging: { cursors: { before: 'a', after: 'b' } } } }, {}],
      ['a scroll', { body: { _scroll_id: 'abc', token: 'abc', search_metadata: { max_id: 250126 } } }, {}],
      ['a bookmark', { body: { bookmark: 'abc', meta: { cursor: 'abc', end_cursor: 'abc' } } }, {}],
      ['an estimate', { headers: { 'x-total-count': '900' } }, { total: 'estimate' }],
      ['a Link of other places', { headers: { link: '</x>; rel=first' } }, { pagination: 'link' }],
    ])('but not where beside the leads stands %s', async (_, { body, headers = {} }, dialect) => {
      const end = await endOf({ body: { data: leads(100), ...body }, headers }, { ...learnt, ...dialect });
      expect(end).toBe('complete: explicit-end');
    });

    it('nor where leads since a time are asked for, and all are counted', async () => {
      const { server, service } = await replying(() => ({ data: leads(3), total_leads: 900 }), {
        dialect: { ...learnt, params: { since: 'from' } },
      });
      const unasked = await openedAt(server.url, { dialect: learnt });
      const { completion } = await walk(service, { query: { since: 0 } });
      // No time is sent: the answer is of all leads, as its count is.
      await expect(walk(unasked, { query: { since: 0 } })).rejects.toThrow('has 900 leads');
      expect(completion).toMatchObject({ kind: 'complete', evidence: 'explicit-end' });
      expect(await endOf({ body: { data: leads(3), total_leads: 900 } }, learnt)).toContain('900');
    });

    it.each([
      [5, 2, 'explicit-end'],
      [7, 2, 'unproven'],
      [5, 0, 'unproven'],
    ])(
      'where %d are counted, and a walk behind two leads goes on at lead %d: %s',
      async (total, from, end) => {
        const body = { data: leads(3, from), page_cursor: 'c2', total_leads: total };
        const { service } = await replying(() => body, { dialect: learnt });
        const seen = new IdSet();
        for (const { id } of leads(2)) seen.preload(id);
        // Two of the page that was being read were handed out, and come again.
        const handedOut = new Set(leads(4).map(({ id }) => id));
        const { completion } = await walk(service, {
          ...{ seen, interruptedRun: handedOut, acceptUnproven: () => undefined },
          from: { style: 'cursor', param: 'cursor', cursor: 'c1' },
        });
        expect(completion).toMatchObject(end === 'unproven' ? { kind: end } : { evidence: end });
      },
    );

    it('nor on a page behind the first', async () => {
      const { service } = await replying(
        ({ query }) => {
          const isSecond = query.get('cursor') === 'b';
          const meta = isSecond ? { next_cursor: 'c' } : { next: 'b' };
          return { data: leads(100, isSecond ? 100 : 0), meta };
        },
        { dialect: learnt },
      );
      const { completion } = await walk(service);
      expect(completion).toMatchObject({ kind: 'complete', evidence: 'explicit-end' });
    });
  });

  it.each(['Link', 'next'])('by api.pagination none where %s names another one', async (sign) => {
    const answer =
      sign === 'Link'
        ? { body: data, headers: { link: '</x?p=2>; rel=next' } }
        : { body: { data, next: 'abc' } };
    expect(await endOf(answer, { pagination: 'none' })).toContain('api.pagination is none');
  });
});

describe('what speaks against an end', () => {
  const signs: readonly (readonly [sign: string, Omit<Answer, 'body'>, beside: object])[] = [
    ["the answer's header 'x-ms-continuation' may lead", { headers: { 'x-ms-continuation': 'abc' } }, {}],
    ["the answer's 'max_id' may lead", {}, { max_id: 250126 }],
    ["not all ('partial')", {}, { partial: true }],
    ["not all ('errors')", {}, { errors: [{ message: 'one source failed' }] }],
    ["drops the parameter 'limit'", { location: '/api/leads/' }, {}],
  ];

  it.each(signs)(
    'is the only thing that is said, at a usual limit, too: %s',
    async (sign, answer, beside) => {
      for (const count of [10, 25, 27, 100]) {
        const { end, said } = await endAndNotes({ ...answer, body: { data: leads(count), ...beside } });
        expect(end).toContain(sign);
        expect(said).not.toContain('note: ');
      }
    },
  );

  it.each(signs.slice(0, 2))('is noted where api.pagination is none: %s', async (sign, answer, beside) => {
    const body = { data: leads(25), ...beside };
    const { end, said } = await endAndNotes({ ...answer, body }, { pagination: 'none' });
    expect(end).toBe('complete: affirmed');
    expect(said).toContain(`note: ${sign}`);
    expect(said).toContain('api.pagination is none');
  });
});

it.each([
  '<https://api.example/api/leads?page=1&size=100>; rel="last"',
  '<https://api.example/api/leads?page=0&size=50>; rel="first", <https://api.example/api/leads?page=0>; rel="last"',
])('a Link header whose last page is the first one is an end: %s', async (link) => {
  expect(await endOf({ body: leads(37), headers: { link } })).toMatch(/^complete: /);
});

it.each([{ success: false }, { isSuccess: false }, { successful: false }, { isOk: false }])(
  'the first answer that brings leads and says that it failed proves no end: %j',
  async (flag) => {
    expect(await endOf({ body: { data, ...flag, has_more: false } })).toContain('answered with a failure');
  },
);

describe('an answer that says itself that it is not all', () => {
  const said: readonly object[] = [
    { incomplete_results: true },
    { _shards: { total: 5, successful: 4, failed: 1 } },
    { timed_out: true },
    { errors: [{ message: 'one source failed' }] },
    { meta: { partial: true } },
    { truncated: true },
  ];
  it.each(said)('makes every end unproven: %j', async (beside) => {
    expect(await endOf({ body: { data, ...beside } })).toContain('is not all');
    expect(await endOf({ body: { data, ...beside, has_more: false } })).toContain('is not all');
  });

  it('counts on the pages before the last one, too', async () => {
    const { service } = await replying(({ query }) => {
      const isSecond = query.has('cursor');
      const beside = isSecond ? { next_cursor: null } : { next_cursor: 'b', incomplete_results: true };
      return { data: leads(20, isSecond ? 20 : 0), ...beside };
    });
    await expect(walk(service)).rejects.toThrow('is not all');
  });

  it.each([{ 'content-range': 'items 0-49/*' }, {}])('by a 206 that does not fit: %j', async (headers) => {
    expect(await endOf({ body: data, headers, status: 206 })).toMatch(
      /the part 'items 0-49\/\*'|does not say which/,
    );
  });
});

/** Nothing in the answer speaks against it; a lone page is no proof by itself. */
const completeOrSilent = /complete|which may be as many as the service gives at once/;

describe('an honest answer holds no sign of more leads', () => {
  it.each<readonly [string, Answer]>([
    ['offset 0 and a count', { body: { data, offset: 0, count: 23 } }],
    ['an empty cursor', { body: { data, cursor: '', prev_cursor: '' } }],
    ['Relay with errors: null', { body: { data, errors: null, error: null, warnings: [] } }],
    [
      'Link with self',
      { body: data, headers: { link: '</l>; rel=self, </next-release>; rel="service-doc"' } },
    ],
    [
      'a session',
      {
        body: {
          data,
          access_token: 'x',
          csrf_token: 'y',
          request: { token: 'z' },
          account: { token: 'q', partial: true },
        },
      },
    ],
    [
      'limits of the rate',
      {
        body: data,
        headers: { 'x-ratelimit-next-reset': '12', 'retry-after': '1', 'x-ratelimit-remaining': '7' },
      },
    ],
    [
      'fields of the leads',
      {
        body: {
          data: data.map((lead) => ({ ...lead, next_token: 'x', partial: true, errors: [1], total: 99 })),
        },
      },
    ],
    ['OData delta, at a usual limit', { body: { value: leads(25), '@odata.deltaLink': 'https://x/d?t=1' } }],
    ['page 0 of 1, at a usual limit', { body: { content: leads(20), number: 0, totalPages: 1 } }],
    ['a nested list without leads', { body: { result: { data: { leads: [] } }, links: { next: null } } }],
    [
      'pages, of which this is the only one',
      { body: { data, page: 1, total_pages: 1, total: 23, next_page: null } },
    ],
  ])('%s', async (_, answer) => {
    expect(await endOf(answer)).toMatch(completeOrSilent);
  });

  it('where a redirect keeps the query', async () => {
    expect(await endOf({ body: data, location: '/api/leads/?limit=1000' })).toMatch(completeOrSilent);
  });

  it('where one answer is known to be everything', async () => {
    expect(await endOf({ body: { data, token: 'abc' } }, { pagination: 'none' })).toBe('complete: affirmed');
  });
});
