import type { Dialect } from '../../config/dialect.ts';

/** The names that services give to the parameters of a list operation, and to what an answer says of its pages. */
const names = (text: string): readonly string[] => text.trim().split(/\s+/);

interface Parameter {
  readonly usual: readonly string[];
  readonly inAddress: readonly string[];
}

/** In an address, they may also be something else than a number of leads, or of leads to skip. */
const ambiguous = names('first from');

/** Behind the bar stand names that do not count in an address. */
function parameter(text: string, ...onlyInAddress: readonly string[]): Parameter {
  const [frequent = [], rare = []] = text.split('|').map(names);
  const counting = [...frequent, ...onlyInAddress].filter((name) => !ambiguous.includes(name));
  // Beside a name with `_` before it, the plain one is a filter (json-server).
  const inAddress = counting.toSorted((a, b) => Number(b.startsWith('_')) - Number(a.startsWith('_')));
  return { usual: [...frequent, ...rare], inAddress };
}

export const numberParams = {
  limit: parameter(
    `limit per_page page_size pageSize perPage size count take first top $limit _limit $top page[size] page[limit] |
    max_results maxResults max rows num n batch_size itemsPerPage page_limit pagesize`,
    '_per_page',
  ),
  page: parameter(`
    page page_number pageNumber p pg _page page[number] |
    pageIndex page_index currentPage current_page pageNo page_no`),
  offset: parameter('offset skip start from $skip _start _offset page[offset] | startAt start_index'),
};

export const cursorParams = names(`
  cursor after page_token pageToken next_token nextToken starting_after continuation continuationToken next_cursor
  nextCursor page[cursor] page[after] after_id last_id since_id token marker bookmark position`);

/** Names that take the id of a lead, and mean the leads that are older, or that stand after it: each asked for together. */
export const idNamesBehind = {
  older: names('before before_id'),
  behind: names('starting_after after after_id last_id'),
  behindForMore: names('starting_after cursor after after_id last_id'),
};

export const statusParams = names(`
  status state delivery_status deliveryStatus lead_status leadStatus statuses filter[status] status[] stage`);

export const categoryParams = names(`
  category categories category[] filter[category] lead_category leadCategory type vertical segment lead_type leadType
  topic group tag categoryId category_id`);

/** Names of the earliest and the latest time of creation that belong together. */
export const timeParams: readonly (readonly [since: string, until: string])[] = names(`
  since,until createdAfter,createdBefore created_after,created_before createdSince,createdUntil
  created_since,created_until createdFrom,createdTo created_from,created_to from,to start,end after,before
  start_date,end_date startDate,endDate date_from,date_to dateFrom,dateTo from_date,to_date fromDate,toDate
  start_time,end_time startTime,endTime created_at_min,created_at_max min_created_at,max_created_at
  createdAt[gte],createdAt[lt] createdAt_gte,createdAt_lte createdAt[$gte],createdAt[$lt]
  created_at[gte],created_at[lt] createdAt__gte,createdAt__lt createdAt:gte,createdAt:lt created[gte],created[lt]
  created_at_gte,created_at_lte created_at__gte,created_at__lt filter[created_after],filter[created_before]
  filter[createdAfter],filter[createdBefore]`).map((pair) => {
  const [since = '', until = ''] = pair.split(',');
  return [since, until];
});

export const untilNames = names(`
  until created_before createdBefore created_until createdUntil to end created_to createdTo end_date endDate to_date
  toDate`);

/** The query parameter that takes a cursor, by the field that it came in; `cursor` for all others. */
export const cursorParamOf: Readonly<Record<string, string>> = {
  next_page_token: 'page_token',
  nextPageToken: 'pageToken',
  next_token: 'next_token',
  nextToken: 'nextToken',
  NextToken: 'NextToken',
  NextMarker: 'marker',
  nextMarker: 'marker',
  next_marker: 'marker',
  Marker: 'Marker',
  marker: 'marker',
  // DynamoDB, Airtable, Intercom, Instagram, Elasticsearch, OAI-PMH, Cassandra, Azure DevOps.
  LastEvaluatedKey: 'ExclusiveStartKey',
  offset: 'offset',
  starting_after: 'starting_after',
  next_max_id: 'max_id',
  search_after: 'search_after',
  scroll_id: 'scroll_id',
  _scroll_id: 'scroll_id',
  resumptionToken: 'resumptionToken',
  pageState: 'pageState',
  continuation: 'continuation',
  'x-ms-continuationtoken': 'continuationToken',
  continuationToken: 'continuationToken',
  continuation_token: 'continuation_token',
  nextContinuationToken: 'continuation-token',
  NextContinuationToken: 'continuation-token',
  after: 'after',
  end_cursor: 'after',
  endCursor: 'after',
  bookmark: 'bookmark',
};

export const nextNames = names(`
  nextcursor nextpagetoken nexttoken nextcontinuationtoken continuationtoken nextpageurl nexturl nextlink nextpageuri
  nexturi nexthref odatanextlink nextrecordsurl nextmarker nextmaxid lastevaluatedkey resumptiontoken nextpagestate
  nextpage nextoffset nextstart next`);

/** Fields that stand on the last page only, in the place of a next one: what has changed since is asked for there. */
export const deltaNames = names('odatadeltalink deltalink');

/** Fields that may also describe the page itself: they count only where no other one says that this was the last. */
export const vagueNextNames = names(
  'endcursor after cursor bookmark marker continuation scrollid pagestate searchafter offset',
);

export const nextHeaders: Readonly<Record<string, string>> = {
  'x-next-cursor': 'next_cursor',
  'x-next-page-token': 'next_page_token',
  'x-next-token': 'next_token',
  'x-continuation-token': 'continuation_token',
  'x-ms-continuationtoken': 'x-ms-continuationtoken',
  'next-page': 'next_page',
  'x-next-page': 'next_page',
};

export const moreNames = names(
  'hasmore hasnext hasnextpage more morerecords moreitemsincollection istruncated',
);

export const lastNames = names('last islast islastpage done');

export const pageNames = names('page currentpage pagenumber pageindex number');
export const pagesNames = names('totalpages pages pagecount lastpage numpages');
export const offsetNames = names('offset skip start startat');
/** The page size in force; `size` and `count` are the length of the page in some services. */
export const pageSizeNames = names('pagesize perpage itemsperpage maxresults limit');
export const totalNames = names(
  'total totalcount totalitems totalresults totalrecords totalelements totalrows numfound odatacount',
);
/** A total in some services, the length of the page in others: only a larger number than that can be the total. */
export const countNames = names('count items');

export const nestingNames = names(
  'meta pagination paging pageinfo page pages links cursor cursors responsemetadata info additionaldata hits',
);

/** The specification names neither the field nor its values (section 2, gaps). */
export const statusFields: readonly string[] = [
  'status',
  'deliveryStatus',
  'delivery_status',
  'leadStatus',
  'lead_status',
  'state',
];

/** Dotted names under which a lead of this service may show its delivery status. */
export const statusFieldsOf = ({ statusField = 'auto' }: Pick<Dialect, 'statusField'>): readonly string[] =>
  statusField === 'auto' ? statusFields : [statusField];
