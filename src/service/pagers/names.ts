import type { Dialect } from '../../config/dialect.ts';

/*
 * The names that services give to what they do in much the same way. Query parameters are written here as they are sent. Members of
 * an answer are written as `plainName` makes them: `nextcursor` is `next_cursor` and `nextCursor`. The likeliest names come first.
 */
const names = (text: string): readonly string[] => text.trim().split(/\s+/);

/**
 * `tried`: names that are tried where it is unknown which one the service takes. `inAddress`: names by which the parameter is
 * recognised in an address, which is that of the list or one that an answer names.
 */
interface ParameterNames {
  readonly tried: readonly string[];
  readonly inAddress: readonly string[];
}

/** In an address, these may also be something else than a number of leads, or of leads to skip. */
const ambiguous = names('first from');

/**
 * A new name goes into `frequent` if it means this parameter in every place. One that few services use, or that is often a filter, is
 * `rare`: trying it shows what it does, while in an address it would be believed unseen. One that no service takes for itself, because it
 * goes with another parameter, is `onlyInAddress`.
 */
function parameter(frequent: string, rare: string, onlyInAddress = ''): ParameterNames {
  const candidates = names(`${frequent} ${onlyInAddress}`).filter((name) => !ambiguous.includes(name));
  // Beside a name with `_` before it, the plain one is a filter (json-server).
  const inAddress = candidates.toSorted((a, b) => Number(b.startsWith('_')) - Number(a.startsWith('_')));
  return { tried: names(`${frequent} ${rare}`), inAddress };
}

export const numberParams = {
  limit: parameter(
    `limit per_page page_size pageSize perPage size count take first top $limit _limit $top page[size] page[limit]`,
    'max_results maxResults max rows num n batch_size itemsPerPage page_limit pagesize',
    '_per_page',
  ),
  page: parameter(
    'page page_number pageNumber p pg _page page[number]',
    'pageIndex page_index currentPage current_page pageNo page_no',
  ),
  offset: parameter('offset skip start from $skip _start _offset page[offset]', 'startAt start_index'),
};

export const cursorParams = names(`
  cursor after page_token pageToken next_token nextToken starting_after continuation continuationToken next_cursor
  nextCursor page[cursor] page[after] after_id last_id since_id token marker bookmark position`);

/**
 * Parameters that take the id of a lead, and ask for the leads that are older, or that come after it in the list. All of one meaning are
 * sent in one request, since services ignore what they do not know. `afterWithMore`: where an answer says that there is more and names
 * no cursor, the cursor may be the last id.
 */
export const idParams = {
  older: names('before before_id'),
  after: names('starting_after after after_id last_id'),
  afterWithMore: names('starting_after cursor after after_id last_id'),
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

/** Parameters that ask for the leads before a time, all sent in one request. `before` is not among them: `idParams` sends an id by it. */
export const untilNames = names(`
  until created_before createdBefore created_until createdUntil to end created_to createdTo end_date endDate to_date
  toDate`);

/** Members that hold a cursor for the query parameter of the same name (Elasticsearch, OAI-PMH, Cassandra, Azure DevOps and others). */
const cursorParamsAsNamed = names(`
  next_token nextToken NextToken marker Marker offset starting_after search_after scroll_id resumptionToken pageState
  continuation continuationToken continuation_token after bookmark`);

/** The query parameter that takes a cursor, by the exact name of the member or header that it came in; `cursor` for all others. */
export const cursorParamOf: Readonly<Record<string, string>> = {
  ...Object.fromEntries(cursorParamsAsNamed.map((name) => [name, name])),
  next_page_token: 'page_token',
  nextPageToken: 'pageToken',
  NextMarker: 'marker',
  nextMarker: 'marker',
  next_marker: 'marker',
  LastEvaluatedKey: 'ExclusiveStartKey',
  next_max_id: 'max_id',
  _scroll_id: 'scroll_id',
  'x-ms-continuationtoken': 'continuationToken',
  nextContinuationToken: 'continuation-token',
  NextContinuationToken: 'continuation-token',
  end_cursor: 'after',
  endCursor: 'after',
};

export const nextNames = names(`
  nextcursor nextpagetoken nexttoken nextcontinuationtoken continuationtoken nextpageurl nexturl nextlink nextpageuri
  nexturi nexthref odatanextlink nextrecordsurl nextmarker nextmaxid lastevaluatedkey resumptiontoken nextpagestate
  nextpage nextoffset nextstart next`);

/** Members of the last page only: they lead to the changes since then, not to another page (OData). */
export const deltaNames = names('odatadeltalink deltalink');

/** Members that may also describe the page itself: they count only where no other one says that this was the last page. */
export const vagueNextNames = names(
  'endcursor after cursor bookmark marker continuation scrollid pagestate searchafter offset',
);

/** Headers that name the next page, each with the member of an answer that means the same, or its own name where no member does. */
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
/** Some services call the total so, others the length of the page: only a number that is larger than the page is a total. */
export const countNames = names('count items');

export const nestingNames = names(
  'meta pagination paging pageinfo page pages links cursor cursors responsemetadata info additionaldata hits',
);

/** Members of a lead that may hold its delivery status, with exact names: the specification of a lead (section 2) names none. */
export const statusFields: readonly string[] = [
  'status',
  'deliveryStatus',
  'delivery_status',
  'leadStatus',
  'lead_status',
  'state',
];

/** The same for one service, for which a person may have set the name. */
export const statusFieldsOf = ({ statusField = 'auto' }: Pick<Dialect, 'statusField'>): readonly string[] =>
  statusField === 'auto' ? statusFields : [statusField];
