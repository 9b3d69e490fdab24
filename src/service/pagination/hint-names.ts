/** Names are compared without case, `_` and `-`: `next_cursor`, `nextCursor` and `next-cursor` are one. */
export const plainName = (name: string): string => name.toLowerCase().replace(/[_-]/g, '');

/** Fields that hold the next page's cursor, URL or number, the clearest ones first. */
export const nextNames: readonly string[] = [
  'nextcursor',
  'nextpagetoken',
  'nexttoken',
  'nextcontinuationtoken',
  'continuationtoken',
  'nextpageurl',
  'nexturl',
  'nextlink',
  '@odata.nextlink',
  'nextrecordsurl',
  'nextpage',
  'nextoffset',
  'nextstart',
  'next',
];

/** Fields that may also describe the page itself: they count only where no other one says that this was the last. */
export const vagueNextNames: readonly string[] = ['endcursor', 'after', 'cursor', 'bookmark'];

/** True: there is more. */
export const moreNames: readonly string[] = [
  'hasmore',
  'hasnext',
  'hasnextpage',
  'more',
  'morerecords',
  'moreitemsincollection',
  'istruncated',
];

/** True: there is no more. */
export const lastNames: readonly string[] = ['last', 'islast', 'islastpage', 'done'];

export const pageNames: readonly string[] = ['page', 'currentpage', 'pagenumber', 'pageindex', 'number'];
export const pagesNames: readonly string[] = ['totalpages', 'pages', 'pagecount', 'lastpage', 'numpages'];
export const offsetNames: readonly string[] = ['offset', 'skip', 'start', 'startat'];
/** The page size in force; `size` and `count` are the length of the page in some services. */
export const pageSizeNames: readonly string[] = [
  'pagesize',
  'perpage',
  'itemsperpage',
  'maxresults',
  'limit',
];
export const totalNames: readonly string[] = [
  'total',
  'totalcount',
  'totalitems',
  'totalresults',
  'totalrecords',
  'totalelements',
  'totalrows',
  'numfound',
];
/** A total in some services, the length of the page in others: only a larger number than that can be the total. */
export const countNames: readonly string[] = ['count', 'items'];

/** Objects in which services put these fields, from the array's own neighbours outwards. */
export const nestingNames: readonly string[] = [
  'meta',
  'pagination',
  'paging',
  'pageinfo',
  'page',
  'links',
  '_links',
  'cursor',
  'cursors',
  'responsemetadata',
  'info',
  'additionaldata',
  'hits',
];

/** The query parameter that takes a cursor, by the field that it came in; `cursor` for all others. */
export const cursorParams: Readonly<Record<string, string>> = {
  next_page_token: 'page_token',
  nextPageToken: 'pageToken',
  next_token: 'next_token',
  nextToken: 'nextToken',
  continuationToken: 'continuationToken',
  continuation_token: 'continuation_token',
  nextContinuationToken: 'continuation-token',
  NextContinuationToken: 'continuation-token',
  after: 'after',
  end_cursor: 'after',
  endCursor: 'after',
  bookmark: 'bookmark',
};
