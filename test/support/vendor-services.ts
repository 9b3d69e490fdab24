import { createHash } from 'node:crypto';
import type { Dialect } from '../../src/config/dialect.ts';

/** What a mock of a vendor's list operation answers. */
export interface VendorAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface Vendor {
  readonly name: string;
  /** Of the vendor's documentation for this answer. */
  readonly source: string;
  /** What an operator has to set; nothing where the answers say it all. */
  readonly dialect: Dialect;
  readonly answer: (query: URLSearchParams, url: URL) => VendorAnswer;
}

interface Lead {
  readonly id: string;
  readonly createdAt: string;
}

export const leadCount = 243;
const leads: readonly Lead[] = Array.from({ length: leadCount }, (_, i) => ({
  id: String(5_000_000 + i * 7),
  createdAt: new Date(Date.UTC(2026, 0, 1) + i * 60_000).toISOString(),
}));
export const leadIds: readonly string[] = leads.map(({ id }) => id);

const number = (query: URLSearchParams, name: string, otherwise: number): number =>
  Number(query.get(name) ?? otherwise);
const size = (query: URLSearchParams, name: string, usual: number, most: number): number =>
  Math.min(most, number(query, name, usual));
const bad = (message: string): VendorAnswer => ({ status: 400, body: { error: 'bad_request', message } });
/** A cursor that only the service understands, for the number of leads before it. */
const cursors = new Map(leads.map((_, i) => [createHash('sha256').update(`c${i}`).digest('base64url'), i]));
const cursorAt = (offset: number): string => [...cursors.keys()][offset] ?? '';
const offsetOf = (cursor: string | null): number => (cursor === null ? 0 : (cursors.get(cursor) ?? 0));
const behind = (id: string | null): number => leads.findIndex((lead) => lead.id === id) + 1;
const withQuery = (url: URL, changes: Readonly<Record<string, string | number>>): string => {
  const target = new URL(url);
  for (const [name, value] of Object.entries(changes)) target.searchParams.set(name, String(value));
  return target.href;
};

export const vendors: readonly Vendor[] = [
  {
    name: 'Stripe',
    source: 'https://docs.stripe.com/api/pagination',
    dialect: {},
    answer: (query, url) => {
      const unknown = [...query.keys()].find(
        (name) => !['limit', 'starting_after', 'ending_before'].includes(name),
      );
      if (unknown !== undefined) return bad(`Received unknown parameter: ${unknown}`);
      if (number(query, 'limit', 10) > 100) return bad('This value must be less than or equal to 100');
      const start = behind(query.get('starting_after'));
      const data = leads.slice(start, start + size(query, 'limit', 10, 100));
      return { body: { object: 'list', url: url.pathname, has_more: start + data.length < leadCount, data } };
    },
  },
  {
    name: 'HubSpot',
    source: 'https://developers.hubspot.com/docs/api-reference/crm-contacts-v3',
    dialect: {},
    answer: (query, url) => {
      if (number(query, 'limit', 10) > 100) return bad('limit must not be greater than 100');
      const start = behind(query.get('after'));
      const results = leads.slice(start, start + size(query, 'limit', 10, 100));
      const after = results.at(-1)?.id ?? '';
      const more = start + results.length < leadCount;
      return {
        body: { results, ...(more ? { paging: { next: { after, link: withQuery(url, { after }) } } } : {}) },
      };
    },
  },
  {
    name: 'Zoho CRM',
    source: 'https://www.zoho.com/crm/developer/docs/api/v8/get-records.html',
    dialect: {},
    answer: (query) => {
      const page = number(query, 'page', 1);
      const perPage = size(query, 'per_page', 200, 200);
      const data = leads.slice((page - 1) * perPage, page * perPage);
      if (data.length === 0) return { status: 204 };
      const info = { per_page: perPage, count: data.length, page, more_records: page * perPage < leadCount };
      return { body: { data, info } };
    },
  },
  {
    name: 'Pipedrive',
    source: 'https://pipedrive.readme.io/docs/core-api-concepts-pagination',
    dialect: {},
    answer: (query) => {
      const start = number(query, 'start', 0);
      const limit = size(query, 'limit', 100, 100);
      const data = leads.slice(start, start + limit);
      const more = start + data.length < leadCount;
      const pagination = {
        ...{ start, limit, more_items_in_collection: more },
        ...(more ? { next_start: start + limit } : {}),
      };
      return {
        body: { success: true, data: data.length > 0 ? data : null, additional_data: { pagination } },
      };
    },
  },
  {
    name: 'Meta lead ads',
    source: 'https://developers.facebook.com/docs/graph-api/results',
    dialect: {},
    answer: (query, url) => {
      const start = query.has('after') ? offsetOf(query.get('after')) + 1 : 0;
      const data = leads.slice(start, start + size(query, 'limit', 25, 100));
      if (data.length === 0) return { body: { data } };
      const after = cursorAt(start + data.length - 1);
      const more = start + data.length < leadCount;
      const next = more ? { next: withQuery(url, { after }) } : {};
      return { body: { data, paging: { cursors: { before: cursorAt(start), after }, ...next } } };
    },
  },
  {
    name: 'Elasticsearch',
    source: 'https://www.elastic.co/docs/reference/elasticsearch/rest-apis/paginate-search-results',
    dialect: { params: { offset: 'from', limit: 'size' }, pagination: 'offset', item: '/_source' },
    answer: (query) => {
      const from = number(query, 'from', 0);
      const hits = leads.slice(from, from + size(query, 'size', 10, 10_000));
      return {
        body: {
          ...{ took: 3, timed_out: false, _shards: { total: 1, successful: 1, skipped: 0, failed: 0 } },
          hits: {
            total: { value: leadCount, relation: 'eq' },
            max_score: 1,
            hits: hits.map((lead) => ({ _index: 'leads', _id: lead.id, _score: 1, _source: lead })),
          },
        },
      };
    },
  },
  {
    name: 'Relay connection',
    source: 'https://relay.dev/graphql/connections.htm',
    dialect: { params: { limit: 'first' } },
    answer: (query) => {
      const start = query.has('after') ? offsetOf(query.get('after')) + 1 : 0;
      const nodes = leads.slice(start, start + size(query, 'first', 20, 50));
      const edges = nodes.map((node, i) => ({ cursor: cursorAt(start + i), node }));
      const pageInfo = {
        hasNextPage: start + nodes.length < leadCount,
        hasPreviousPage: start > 0,
        startCursor: edges[0]?.cursor ?? null,
        endCursor: edges.at(-1)?.cursor ?? null,
      };
      return { body: { data: { leads: { edges, pageInfo } } } };
    },
  },
  {
    name: 'Spring Data',
    source: 'https://docs.spring.io/spring-data/commons/reference/repositories/core-extensions.html',
    dialect: {},
    answer: (query) => {
      const page = number(query, 'page', 0);
      const each = size(query, 'size', 20, 2000);
      const content = leads.slice(page * each, (page + 1) * each);
      const totalPages = Math.ceil(leadCount / each);
      return {
        body: {
          ...{ content, pageable: { pageNumber: page, pageSize: each, offset: page * each, paged: true } },
          ...{ last: page >= totalPages - 1, totalElements: leadCount, totalPages, first: page === 0 },
          ...{ size: each, number: page, numberOfElements: content.length, empty: content.length === 0 },
        },
      };
    },
  },
  {
    name: 'Django REST framework',
    source: 'https://www.django-rest-framework.org/api-guide/pagination/',
    dialect: {},
    answer: (query, url) => {
      const page = number(query, 'page', 1);
      const results = leads.slice((page - 1) * 100, page * 100);
      if (results.length === 0) return { status: 404, body: { detail: 'Invalid page.' } };
      const next = page * 100 < leadCount ? withQuery(url, { page: page + 1 }) : null;
      const previous = page > 1 ? withQuery(url, { page: page - 1 }) : null;
      return { body: { count: leadCount, next, previous, results } };
    },
  },
  {
    name: 'GitLab',
    source: 'https://docs.gitlab.com/api/rest/#pagination',
    dialect: {},
    answer: (query, url) => {
      const page = number(query, 'page', 1);
      const each = size(query, 'per_page', 20, 100);
      const pages = Math.ceil(leadCount / each);
      const links = { prev: page - 1, next: page + 1, first: 1, last: pages };
      const link = Object.entries(links)
        .filter(([, value]) => value >= 1 && value <= pages)
        .map(([rel, value]) => `<${withQuery(url, { page: value, per_page: each })}>; rel="${rel}"`);
      return {
        headers: {
          link: link.join(', '),
          'x-next-page': page < pages ? String(page + 1) : '',
          'x-page': String(page),
          'x-per-page': String(each),
          'x-prev-page': page > 1 ? String(page - 1) : '',
          'x-total': String(leadCount),
          'x-total-pages': String(pages),
        },
        body: leads.slice((page - 1) * each, page * each),
      };
    },
  },
];
