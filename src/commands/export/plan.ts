import type { Context } from '../../context.ts';
import { type Bookmark, readBookmark } from './bookmark.ts';
import { UsageError } from '../../errors.ts';
import { parseLead, type RawLead } from '../../lead/raw-lead.ts';
import { FieldPresence, leadFilter, type LeadMatcher } from '../../lead/filter.ts';
import { IdSet } from '../../lead/id-set.ts';
import type { LeadQuery } from '../../service/listing/listing-types.ts';
import type { Service } from '../../service/client/service.ts';
import { resolveFilter } from '../flags/resolve-filter.ts';
import type { ExportOptions } from './options.ts';
import { IncrementalWindow } from './incremental-window.ts';

const usualOverlapMs = 86_400_000;

/** One export with everything about it resolved. */
export interface ExportPlan {
  readonly service: Service;
  readonly options: ExportOptions;
  /** When the first attempt began, in ms: relative times count from here. */
  readonly startedAt: number;
  readonly query: LeadQuery;
  readonly passes: (lead: RawLead) => boolean;
  readonly matcher: LeadMatcher;
  /** Of `--fields`. */
  readonly fields: FieldPresence;
  readonly seen: IdSet;
  /** Set with `--bookmark` and `--follow`: what the next run or poll needs to know. */
  readonly window: IncrementalWindow | undefined;
  /** As the last run left it. */
  readonly bookmark: Bookmark | undefined;
  /** What a bookmark belongs to. */
  readonly account: Readonly<Record<string, unknown>>;
}

/**
 * Resolves times against `startedAt` (ms) and reads the bookmark of `--bookmark`, which must be locked by now. Throws a
 * `UsageError` for a bookmark of another service or of other filters.
 */
export async function planExport(
  service: Service,
  options: ExportOptions,
  startedAt: number,
): Promise<ExportPlan> {
  const { query, filter } = resolveFilter(options, startedAt, service.messages);
  const { id, item } = service.dialect;
  const account = {
    service: service.account.baseUrl.href,
    path: service.dialect.path ?? null,
    status: query.status ?? null,
    categories: filter.categories,
    where: filter.where,
    // What is unset is left out: bookmarks of earlier versions do not have it.
    ...(id !== undefined && { 'api.id': id }),
    ...(item !== undefined && { 'api.item': item }),
  };
  const seen = new IdSet();
  const { bookmark: path, overlap = usualOverlapMs } = options;
  const bookmark = path === undefined ? undefined : await readBookmark(path);
  if (bookmark !== undefined && JSON.stringify(bookmark.of) !== JSON.stringify(account)) {
    throw new UsageError(`the bookmark ${path ?? ''} belongs to another service or other filters`, {
      hint: 'use one bookmark for each service and set of filters',
    });
  }
  const window =
    path === undefined && options.follow === undefined ? undefined : new IncrementalWindow(overlap, bookmark);
  for (const id of window?.ids() ?? []) seen.preload(id);
  const since = latest(query.since, window?.since);
  const matcher = leadFilter(filter);
  const fields = new FieldPresence(options.fields ?? []);
  const passes = (lead: RawLead): boolean => {
    if (!matcher.matches(lead) || window?.passes(lead) === false) return false;
    if (fields.searching) fields.look(parseLead(lead));
    return true;
  };
  return {
    service,
    options,
    startedAt,
    query: { ...query, since },
    passes,
    matcher,
    fields,
    seen,
    window,
    bookmark,
    account,
  };
}

export const latest = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);

export type ExportContext = Pick<Context, 'clock' | 'signal' | 'messages' | 'status' | 'stdout' | 'pid'>;
