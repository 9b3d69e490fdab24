import { DataError } from '../errors.ts';
import { IdSet } from '../lead/id-set.ts';
import type { LeadText } from '../lead/text.ts';
import type { Position } from './position.ts';
import type { LeadQuery } from './query.ts';
import type { Service } from './service.ts';

/** Some leads of one page, in the service's order. A large page comes in several batches. */
export interface Batch {
  /** Not met before in this walk and not preloaded into `seen`; not filtered (`leadFilter` does that). */
  readonly leads: readonly LeadText[];
  /** Where the next page begins: set on a page's final batch only, and undefined on the walk's last. */
  readonly next: Position | undefined;
  /** No further batch comes. */
  readonly last: boolean;
}

/** Counters of a walk, up to date whenever a batch is handed out. */
export interface WalkStats {
  requests: number;
  retries: number;
  pages: number;
  /** Records handed out. */
  leads: number;
  /** Records that the service sent again, dropped. */
  duplicates: number;
  /** Records without a usable id: handed out, and not deduplicated. */
  withoutId: number;
  /** How often the list had moved while it was read and was walked again from its start. */
  restarts: number;
  /** The list may have moved in a way that this pagination cannot show: some leads may have been missed. */
  shifted: boolean;
  /** Number of matching leads, where the service tells one. */
  total: number | undefined;
}

export interface WalkOptions {
  readonly query: LeadQuery;
  /** Records asked for per page; the dialect's `pageSize` or the service's own default otherwise. */
  readonly pageSize?: number | undefined;
  /** Where to begin: a `next` of an earlier walk with the same query and page size. */
  readonly from?: Position | undefined;
  /** Ids that are not handed out again; filled with every id that the walk meets. A fresh one by default. */
  readonly seen?: IdSet | undefined;
  /** Requests in flight at once where positions can be computed (page, offset); batches keep their order. */
  readonly concurrency?: number | undefined;
  /** Asks for the next page while the current one is being used. Not for a reader that may stop early. */
  readonly prefetch?: boolean | undefined;
}

export interface Walk extends AsyncIterable<Batch> {
  readonly stats: Readonly<WalkStats>;
}

/**
 * Every lead that the service lists for a query, page by page, each id once. Leaving the loop early aborts what is in
 * flight. Throws `KeyRefusedError`, `ServiceError`, `DataError` (not JSON, no leads array, a walk that does not move).
 */
export function leadPages(service: Service, options: WalkOptions): Walk {
  const stats: WalkStats = {
    requests: 0,
    retries: 0,
    pages: 0,
    leads: 0,
    duplicates: 0,
    withoutId: 0,
    restarts: 0,
    shifted: false,
    total: undefined,
  };
  return { stats, [Symbol.asyncIterator]: () => walk(service, options, stats) };
}

async function* walk(
  service: Service,
  options: WalkOptions,
  stats: WalkStats,
): AsyncGenerator<Batch, void, undefined> {
  const seen = options.seen ?? new IdSet();
  let at: Position | undefined = options.from ?? { style: 'start' };
  while (at !== undefined) {
    const { records, next }: { records: Record<string, unknown>[]; next: Position | undefined } = await page(
      service,
      options,
      at,
    );
    stats.requests += 1;
    stats.pages += 1;
    const leads = records.map(leadOf).filter((lead) => {
      if (lead.id === undefined) stats.withoutId += 1;
      else if (seen.meet(lead.id) !== 'new') {
        stats.duplicates += 1;
        return false;
      }
      return true;
    });
    stats.leads += leads.length;
    yield { leads, next, last: next === undefined };
    at = next;
  }
}

async function page(service: Service, options: WalkOptions, at: Position) {
  const { baseUrl, apiKey } = service.account;
  const url = new URL(baseUrl.href.replace(/\/$/, '') + (service.dialect.path ?? '/api/leads'));
  if (options.pageSize !== undefined) url.searchParams.set('limit', String(options.pageSize));
  if (options.query.status !== undefined) url.searchParams.set('status', options.query.status);
  if (at.style === 'cursor') url.searchParams.set(at.param, at.cursor);
  const answer = await service.dispatcher.request({
    origin: url.origin,
    path: at.style === 'url' ? new URL(at.url).pathname + new URL(at.url).search : url.pathname + url.search,
    method: 'GET',
    headers: { authorization: `Bearer ${apiKey.reveal()}`, accept: 'application/json' },
    signal: service.signal,
  });
  const body = (await answer.body.json()) as Record<string, unknown> | Record<string, unknown>[];
  const records = Array.isArray(body)
    ? body
    : ['data', 'leads', 'items', 'results', 'records'].map((name) => body[name]).find(Array.isArray);
  if (records === undefined) throw new DataError('no leads in the answer');
  const cursor = Array.isArray(body) ? undefined : (body['next_cursor'] ?? body['nextCursor']);
  const link = /<([^>]+)>;\s*rel="?next"?/.exec(String(answer.headers['link'] ?? ''))?.[1];
  const next: Position | undefined =
    link !== undefined
      ? { style: 'url', url: new URL(link, url).href }
      : typeof cursor === 'string'
        ? { style: 'cursor', param: 'cursor', cursor }
        : undefined;
  return { records: records as Record<string, unknown>[], next };
}

function leadOf(record: Record<string, unknown>): LeadText {
  const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
  return {
    bytes: Buffer.from(JSON.stringify(record)),
    id: Number.isInteger(record['id']) ? String(record['id']) : text(record['id']),
    createdAt: text(record['createdAt']),
    category: text(record['category']),
  };
}
