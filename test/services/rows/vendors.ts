import { jsonServerAnswer, type JsonServerRelease } from '../../support/json-server-answer.ts';
import { behindId, byCursor, byOffset, byPage, cursorOf } from '../ways.ts';
import { caution, everything, type Lead, type Page, plainArray, type Row, speaksAgainst } from '../row.ts';

const cursor = ({ leads }: Page): string => cursorOf(leads.at(-1));
const cursorOrNull = (page: Page): string | null => (page.isLast ? null : cursor(page));
/** The address of the next page; null at the end. */
const nextPage = (page: Page, param = 'page'): string | null =>
  page.isLast ? null : page.link({ [param]: page.number + 1 });
const behind = (page: Page, param: string): string | null =>
  page.isLast ? null : page.link({ [param]: cursor(page) });
const behindWithoutHost = (page: Page, param: string): string | null =>
  behind(page, param)?.replace(/^http:\/\/[^/]+/, '') ?? null;
/** Where more follows; nothing where not. */
const more = (page: Page, members: object): object => (page.isLast ? {} : members);
const linkTo = (address: string | null): Record<string, string> =>
  address === null ? {} : { link: `<${address}>; rel="next"` };

/** A lead as JSON:API has it. */
const resource = ({ id, ...attributes }: Lead): object => ({ type: 'leads', id, attributes });
const hits = ({ leads, total }: Page): object => ({
  took: 3,
  timed_out: false,
  _shards: { total: 1, successful: 1, skipped: 0, failed: 0 },
  hits: {
    total: { value: total, relation: 'eq' },
    hits: leads.map((lead) => ({ _id: lead.id, _source: lead })),
  },
});

function jsonServer(release: JsonServerRelease): Row {
  return everything(`json-server ${release}`, {
    answer({ url, list }) {
      const address = new URL(url.href.replace('/api/leads', '/leads'));
      const flat = list.map(({ id, status, category, createdAt }) => ({ id, status, category, createdAt }));
      return jsonServerAnswer(release, flat, address);
    },
  });
}

/** The ways of known services and frameworks, as their documentation shows them. */
export const vendorRows: readonly Row[] = [
  jsonServer('0.17'),
  jsonServer('1 beta'),
  everything('HAL', { cap: 20, way: byPage() }, (page) => ({
    _embedded: { leads: page.leads },
    _links: { self: { href: page.link({}) }, ...more(page, { next: { href: nextPage(page) } }) },
    page: { size: 20, totalElements: page.total, totalPages: page.pages, number: page.number },
  })),
  everything('HAL, without _embedded where nothing is', { cap: 20, way: byPage() }, (page) => ({
    ...(page.leads.length > 0 && { _embedded: { leads: page.leads } }),
    total: page.total,
    _links: { self: { href: page.link({}) } },
  })),
  everything('HAL, without a total', { quietAt: [20], cap: 20, way: byCursor() }, (page) => ({
    _embedded: { leads: page.leads },
    _links: { self: { href: page.link({}) }, ...more(page, { next: { href: behind(page, 'cursor') } }) },
  })),
  everything('JSON:API, pages', { cap: 30, size: ['page[size]'], way: byPage('page[number]') }, (page) => ({
    data: page.leads.map(resource),
    links: { self: page.link({}), next: nextPage(page, 'page[number]') },
  })),
  everything(
    'JSON:API, cursors',
    { cap: 30, size: ['page[size]'], way: byCursor('page[after]') },
    (page) => ({
      data: page.leads.map(resource),
      links: more(page, { next: behind(page, 'page[after]') }),
      meta: { page: { 'has-more': !page.isLast } },
    }),
  ),
  everything('OData', { quietAt: [50], cap: 50, size: ['$top'], way: byOffset('$skip') }, (page) => ({
    value: page.leads,
    ...more(page, { '@odata.nextLink': page.link({ $skip: page.end }) }),
  })),
  everything('OData with @odata.count', { cap: 50, way: byCursor('$skiptoken') }, (page) => ({
    '@odata.count': page.total,
    value: page.leads,
    ...more(page, { '@odata.nextLink': behind(page, '$skiptoken') }),
  })),
  everything('GraphQL over GET', { cap: 25, way: byCursor('after') }, (page) => {
    const edges = page.leads.map((node) => ({ cursor: cursorOf(node), node }));
    return { data: { leads: { edges, pageInfo: { hasNextPage: !page.isLast, endCursor: cursor(page) } } } };
  }),
  speaksAgainst('GraphQL over GET with errors', { cap: 25, way: byCursor('after') }, (page) => {
    const pageInfo = { hasNextPage: !page.isLast, endCursor: cursor(page) };
    const errors = [{ message: 'a lead could not be read', path: ['leads', page.leads.length - 1] }];
    return { data: { leads: { nodes: page.leads.slice(0, -1), pageInfo } }, errors };
  }),
  everything('CouchDB, _all_docs', { cap: 40, size: ['limit'], way: byOffset('skip') }, (page) => ({
    total_rows: page.total,
    offset: page.start,
    rows: page.leads.map((doc) => ({ id: doc.id, key: doc.id, value: { rev: '1-a' }, doc })),
  })),
  everything('CouchDB, _find', { cap: 25, size: ['limit'], way: byCursor('bookmark') }, (page) => ({
    docs: page.leads,
    bookmark: page.leads.length > 0 ? cursor(page) : 'nil',
  })),
  caution('Elasticsearch', { cap: 100, usual: 10, size: ['size'], way: byOffset('from') }, hits),
  caution('Elasticsearch, the first ten', { cap: 10 }, hits),
  everything('Algolia', { cap: 100, usual: 20, size: ['hitsPerPage'], way: byPage('page', 0) }, (page) => ({
    hits: page.leads,
    ...{ page: page.number, nbHits: page.total, nbPages: page.pages, hitsPerPage: page.size, query: '' },
  })),
  everything('Solr', { cap: 100, usual: 10, size: ['rows'], way: byOffset('start') }, (page) => ({
    responseHeader: { status: 0, QTime: 1 },
    response: { numFound: page.total, start: page.start, numFoundExact: true, docs: page.leads },
  })),
  caution('Airtable', { cap: 100, size: ['pageSize'], way: byCursor('offset') }, (page) => ({
    records: page.leads.map(({ id, createdAt, ...fields }) => ({ id, createdTime: createdAt, fields })),
    ...more(page, { offset: cursor(page) }),
  })),
  caution('Notion', { cap: 100, size: ['page_size'], way: byCursor('start_cursor') }, (page) => ({
    object: 'list',
    results: page.leads,
    next_cursor: cursorOrNull(page),
    has_more: !page.isLast,
  })),
  everything('Reddit', { cap: 25, size: ['limit'], way: byCursor('after') }, (page) => ({
    kind: 'Listing',
    data: {
      children: page.leads.map((data) => ({ kind: 't3', data })),
      after: cursorOrNull(page),
      before: null,
    },
  })),
  everything('Twilio', { cap: 50, size: ['PageSize'], way: byCursor('PageToken') }, (page) => ({
    leads: page.leads,
    ...{ page: 0, page_size: 50, first_page_uri: '/api/leads?PageSize=50' },
    next_page_uri: behindWithoutHost(page, 'PageToken'),
  })),
  everything('Django REST framework', { cap: 30, way: byPage(), behind: 404 }, (page) => ({
    count: page.total,
    next: nextPage(page),
    previous: page.start === 0 ? null : page.link({ page: page.number - 1 }),
    results: page.leads,
  })),
  everything('Laravel', { cap: 15, way: byPage() }, (page) => ({
    data: page.leads,
    ...{ current_page: page.number, from: page.start + 1, to: page.end, per_page: 15 },
    ...{ last_page: Math.max(page.pages, 1), next_page_url: nextPage(page), total: page.total },
  })),
  everything('Laravel, simplePaginate', { cap: 15, way: byPage() }, (page) => ({
    data: page.leads,
    ...{ current_page: page.number, per_page: 15, next_page_url: nextPage(page), prev_page_url: null },
  })),
  everything('Spring Data', { cap: 20, size: ['size'], way: byPage('page', 0) }, (page) => ({
    content: page.leads,
    pageable: { pageNumber: page.number, pageSize: page.size, offset: page.start },
    ...{ number: page.number, size: page.size, numberOfElements: page.leads.length },
    ...{ totalPages: page.pages, totalElements: page.total, last: page.isLast, first: page.start === 0 },
  })),
  everything('Spring Data, Slice', { cap: 20, size: ['size'], way: byPage('page', 0) }, (page) => ({
    content: page.leads,
    ...{ number: page.number, size: page.size, numberOfElements: page.leads.length },
    ...{ last: page.isLast, first: page.start === 0 },
  })),
  everything(
    'Kaminari',
    {
      ...{ cap: 25, size: ['per_page'], way: byPage() },
      headers: (page) => ({
        'x-page': String(page.number),
        'x-per-page': '25',
        'x-total': String(page.total),
        'x-total-pages': String(page.pages),
        'x-next-page': page.isLast ? '' : String(page.number + 1),
      }),
    },
    plainArray,
  ),
  everything('Contentful', { cap: 100, size: ['limit'], way: byOffset('skip') }, (page) => ({
    sys: { type: 'Array' },
    ...{ total: page.total, skip: page.start, limit: page.size, items: page.leads },
  })),
  everything(
    'PostgREST',
    {
      ...{ cap: 100, size: ['limit'], way: byOffset() },
      headers: ({ start, end }) => ({ 'content-range': end > start ? `${start}-${end - 1}/*` : '*/*' }),
    },
    plainArray,
  ),
  everything(
    'PostgREST with an exact count',
    {
      ...{ cap: 100, size: ['limit'], way: byOffset() },
      status: ({ isLast, start }) => (isLast && start === 0 ? 200 : 206),
      headers: ({ start, end, total }) => ({
        'content-range': `${end > start ? `${start}-${end - 1}` : '*'}/${total}`,
      }),
    },
    plainArray,
  ),
  caution(
    'Strapi',
    { cap: 25, size: ['pagination[pageSize]'], way: byPage('pagination[page]') },
    ({ leads, number, pages, total }) => ({
      data: leads.map(resource),
      meta: { pagination: { page: number, pageSize: 25, pageCount: pages, total } },
    }),
  ),
  everything(
    'Firestore',
    { quietAt: [20], cap: 100, usual: 20, size: ['pageSize'], way: byCursor('pageToken') },
    (page) => ({
      documents: page.leads,
      ...more(page, { nextPageToken: cursor(page) }),
    }),
  ),
  everything(
    'Mastodon',
    {
      ...{ cap: 40, size: ['limit'], way: behindId('max_id') },
      headers: ({ leads, link }) =>
        linkTo(leads.length === 0 ? null : link({ max_id: leads.at(-1)?.id ?? '' })),
    },
    plainArray,
  ),
  everything(
    'Discord',
    { cap: 100, usual: 50, size: ['limit'], tooLarge: 400, way: behindId('before') },
    plainArray,
  ),
  caution('DynamoDB, an object as a key', { cap: 30, way: behindId('ExclusiveStartKey') }, (page) => ({
    Count: page.leads.length,
    Items: page.leads,
    ...more(page, { LastEvaluatedKey: { id: { S: page.leads.at(-1)?.id } } }),
  })),
  everything('Slack', { cap: 100, size: ['limit'], way: byCursor() }, (page) => ({
    ok: true,
    leads: page.leads,
    response_metadata: { next_cursor: cursorOrNull(page) ?? '' },
  })),
  everything('Zendesk', { cap: 100, size: ['page[size]'], way: byCursor('page[after]') }, (page) => ({
    leads: page.leads,
    meta: { has_more: !page.isLast, after_cursor: cursorOrNull(page), before_cursor: null },
    links: { prev: null, next: behind(page, 'page[after]') },
  })),
  everything('Mailchimp', { cap: 100, usual: 10, size: ['count'], way: byOffset() }, (page) => ({
    members: page.leads,
    total_items: page.total,
  })),
  everything('Intercom', { cap: 50, size: ['per_page'], way: byCursor('starting_after') }, (page) => ({
    ...{ type: 'list', data: page.leads, total_count: page.total },
    pages: {
      ...{ type: 'pages', page: 1, per_page: 50, total_pages: page.pages },
      ...more(page, { next: { per_page: 50, starting_after: cursor(page) } }),
    },
  })),
  everything('Salesforce', { cap: 60, way: byCursor('c') }, (page) => ({
    ...{ totalSize: page.total, done: page.isLast, records: page.leads },
    ...more(page, { nextRecordsUrl: behindWithoutHost(page, 'c') }),
  })),
  everything(
    'IAM, IsTruncated and Marker',
    { cap: 100, size: ['MaxItems'], way: byCursor('Marker') },
    (page) => ({
      Leads: page.leads,
      IsTruncated: !page.isLast,
      ...more(page, { Marker: cursor(page) }),
    }),
  ),
  everything('Kinto, Next-Page', {
    ...{ cap: 33, size: ['_limit'], way: byCursor('_token') },
    headers: (page): Record<string, string> =>
      page.isLast ? {} : { 'next-page': behind(page, '_token') ?? '' },
  }),
  everything(
    'HubSpot',
    { cap: 100, usual: 10, size: ['limit'], tooLarge: 400, way: byCursor('after') },
    (page) => ({
      results: page.leads,
      ...more(page, { paging: { next: { after: cursor(page), link: behind(page, 'after') } } }),
    }),
  ),
  everything('Meta lead ads', { cap: 100, usual: 25, size: ['limit'], way: byCursor('after') }, (page) => ({
    data: page.leads,
    ...(page.leads.length > 0 && {
      paging: { cursors: { after: cursor(page) }, ...more(page, { next: behind(page, 'after') }) },
    }),
  })),
  everything('Shopify', {
    ...{ cap: 250, usual: 50, size: ['limit'], way: byCursor('page_info') },
    headers: (page) => linkTo(behind(page, 'page_info')),
  }),
  caution('Feathers', { cap: 25, usual: 10, size: ['$limit'], way: byOffset('$skip') }, (page) => ({
    ...{ total: page.total, limit: page.size, skip: page.start, data: page.leads },
  })),
  everything('Jira', { cap: 100, usual: 50, size: ['maxResults'], way: byOffset('startAt') }, (page) => ({
    ...{ startAt: page.start, maxResults: page.size, total: page.total, issues: page.leads },
  })),
  everything('Confluence', { cap: 25, size: ['limit'], way: byOffset('start') }, (page) => ({
    results: page.leads,
    ...{ start: page.start, limit: page.size, size: page.leads.length },
    _links: { base: '/', ...more(page, { next: `/api/leads?start=${page.end}&limit=${page.size}` }) },
  })),
  caution('Chargebee', { cap: 100, usual: 10, size: ['limit'], way: byCursor('offset') }, (page) => ({
    list: page.leads.map((lead) => ({ lead })),
    ...more(page, { next_offset: cursor(page) }),
  })),
  caution('Close', { cap: 100, size: ['_limit'], way: byOffset('_skip') }, (page) => ({
    ...{ has_more: !page.isLast, total_results: page.total, data: page.leads },
  })),
  everything('Pipedrive', { cap: 100, size: ['limit'], way: byOffset('start') }, (page) => ({
    data: page.leads.length > 0 ? page.leads : null,
    additional_data: {
      pagination: {
        ...{ start: page.start, limit: page.size, more_items_in_collection: !page.isLast },
        ...more(page, { next_start: page.end }),
      },
    },
  })),
  everything('Zoho CRM', { cap: 200, size: ['per_page'], way: byPage(), behind: 204 }, (page) => ({
    data: page.leads,
    info: { per_page: page.size, count: page.leads.length, page: page.number, more_records: !page.isLast },
  })),
  caution('Lever', { cap: 100, size: ['limit'], way: byCursor('offset') }, (page) => ({
    ...{ data: page.leads, hasNext: !page.isLast },
    ...more(page, { next: cursor(page) }),
  })),
  everything('Recurly', { cap: 200, usual: 20, size: ['limit'], way: byCursor() }, (page) => ({
    ...{ object: 'list', has_more: !page.isLast, next: behindWithoutHost(page, 'cursor'), data: page.leads },
  })),
  everything('GitHub search', { cap: 100, usual: 30, size: ['per_page'], way: byPage() }, (page) => ({
    ...{ total_count: page.total, incomplete_results: false, items: page.leads },
  })),
];
