import { DataError, ServiceError } from '../../errors.ts';
import type { ScannedRecord } from '../../json/scanned-record.ts';
import type { Service } from '../client/service.ts';
import { countInUrl, type Position } from '../pagination/position.ts';
import { linksIn } from '../pagination/pagination-hints.ts';
import { hintsOf } from '../pagination/read-next-page.ts';
import type { RequestParams } from '../pagination/request-params.ts';
import { numberParams } from '../pagination/service-names.ts';
import { fetchPage, recordFingerprint, pageUrl } from './fetch-page.ts';
import type { LeadQuery, RequestCounters } from './listing-types.ts';

/** A page that is looked at and not handed out. */
export type Peeked =
  | {
      readonly kind: 'page';
      readonly count: number;
      readonly ids: readonly (string | undefined)[];
      /** Of the first record: tells pages apart whose records have no ids. */
      readonly firstMark: string;
      /** Leads in all, as it says; undefined also where no more than its beginning was read. */
      readonly total: number | undefined;
      /** It says that there is more behind it. */
      readonly saysMore: boolean;
    }
  /** The service rejected the request with a 4xx, or answered something else than a page. */
  | { readonly kind: 'rejected'; readonly status: number | undefined };

/**
 * Reads a page at a position with another page size than the walk's; undefined: the service's own. With `isPart`, no
 * more of a large page than its beginning.
 */
export type Peek = (
  position: Position,
  size: number | undefined,
  isPart?: boolean,
  part?: PartOfList,
) => Promise<Peeked>;

/** What is asked for in place of the walk's query, and who reads the leads that come. */
interface PartOfList {
  readonly query: (query: LeadQuery) => LeadQuery;
  readonly read: (lead: ScannedRecord) => void;
}

/** `counters` also count the requests of peeks. Throws like `fetchPage`, a `DataError` aside. */
export function peekAt(
  service: Service,
  params: RequestParams,
  query: LeadQuery,
  counters: RequestCounters,
  signal: AbortSignal,
): Peek {
  return async (position, size, isPart = false, part) => {
    const asked = part?.query(query) ?? query;
    const url =
      position.style === 'url' ? sized(position.url, size, params) : pageUrl(params, asked, size, position);
    const ids: (string | undefined)[] = [];
    let firstMark = '';
    let [total, saysMore]: [number | undefined, boolean] = [undefined, false];
    try {
      for await (const { leads, facts } of fetchPage(service, params, url, counters, signal)) {
        for (const lead of leads) {
          ids.push(lead.id);
          part?.read(lead);
        }
        if (facts !== undefined) {
          const hints = hintsOf(params, facts);
          total = hints.total;
          saysMore =
            Boolean(hints.next) ||
            hints.hasMore === true ||
            linksIn(facts.headers['link'])?.has('next') === true;
        }
        if (ids.length === leads.length) firstMark = recordFingerprint(leads[0]);
        if (isPart && ids.length > 0) break;
      }
    } catch (error) {
      if (error instanceof DataError && !isUnreadable(error))
        return { kind: 'rejected', status: error.status };
      // Some services fail over a parameter that they do not expect. In an outage they are not there at all, as a rule.
      if (error instanceof ServiceError && (error.status === 500 || error.status === 501))
        return { kind: 'rejected', status: error.status };
      throw error;
    }
    return { kind: 'page', count: ids.length, ids, firstMark, total, saysMore };
  };
}

/** A URL of the service with another page size, by the parameter that it has for that. */
function sized(target: string, size: number | undefined, params: RequestParams): URL {
  const url = new URL(target);
  if (size === undefined || countInUrl(url) === undefined) return url;
  const name = numberParams.limit.inAddress.find((one) => url.searchParams.has(one)) ?? params.limit;
  if (name !== undefined) url.searchParams.set(name, String(size));
  return url;
}

/** An element of the page in which no lead is found: no other reading of the page would bring it. */
const isUnreadable = ({ problem }: DataError): boolean =>
  ['record-is-no-object', 'no-lead-in-element', 'member-beside-lead'].includes(problem?.kind ?? '');
