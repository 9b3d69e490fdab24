import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { FieldPresence, leadMatcher, type LeadMatcher } from '../../lead/filter.ts';
import { IdSet } from '../../lead/id-set.ts';
import type { RawLead } from '../../lead/raw-lead.ts';
import type { WriterOptions } from '../../output/records/record-types.ts';
import { counted } from '../../output/terminal/progress.ts';
import type { Service } from '../../service/client/service.ts';
import type { LeadQuery, ListingOptions } from '../../service/listing-types.ts';
import { resolveFilter } from '../flags/shared-flags.ts';
import { type Bookmark, IncrementalWindow, readBookmark } from './bookmark.ts';
import type { Totals } from './checkpoint.ts';
import type { ExportOptions } from './command.ts';

/** The default of `--overlap`: a lead may be listed up to a day after its creation time, and is still found. */
const defaultOverlapMs = 86_400_000;

export interface ExportRequest {
  readonly service: Service;
  readonly options: ExportOptions;
  readonly context: Context;
  readonly totals: Totals;
}

/** All that is decided before the first request: what is asked for, which leads are written, and which are known. */
export interface ExportPlan extends ExportRequest {
  /** When the first attempt began, in ms: relative times count from here. */
  readonly startedAt: number;
  readonly query: LeadQuery;
  /** The leads that are wanted; of a page of thousands, none is looked at where all are. */
  readonly passing: (leads: readonly RawLead[]) => readonly RawLead[];
  readonly matcher: LeadMatcher;
  /** Collects which names of `--fields` no lead had. */
  readonly fields: FieldPresence;
  /** The ids that are not written again; the walk adds those that it meets. */
  readonly ids: IdSet;
  /** The part of `ids` that is not of the bookmark: an interrupted export, or an earlier walk of this run, has met them. */
  readonly interruptedRun: ListingOptions['interruptedRun'];
  /** Decides where the next poll or the next run begins; only with `--bookmark` or `--follow`. */
  readonly window: IncrementalWindow | undefined;
  /** The file of `--bookmark` as it was when this run began; undefined before the first run has written it. */
  readonly bookmark: Bookmark | undefined;
  /** The service and the filters without times, which a bookmark belongs to. */
  readonly account: Readonly<Record<string, unknown>>;
}

/**
 * Resolves times against `startedAt` (ms) and reads the bookmark of `--bookmark`, which must be locked by now. Throws a
 * `UsageError` for a bookmark of another service or of other filters.
 */
export async function planExport(request: ExportRequest, startedAt: number): Promise<ExportPlan> {
  const { service, options } = request;
  const { query, filter } = resolveFilter(options, startedAt, service.messages);
  const { id, item } = service.dialect;
  const account = {
    service: service.account.baseUrl.href,
    path: service.dialect.path ?? null,
    status: query.status ?? null,
    categories: filter.categories,
    where: filter.where,
    'api.id': id ?? null,
    'api.item': item ?? null,
  };
  const { bookmark: path, overlap = defaultOverlapMs } = options;
  const bookmark = path === undefined ? undefined : await readBookmark(path);
  if (bookmark !== undefined && JSON.stringify(bookmark.of) !== JSON.stringify(account)) {
    throw new UsageError(`the bookmark ${path ?? ''} belongs to another service or other filters`, {
      hint: 'use one bookmark for each service and set of filters',
    });
  }
  const isIncremental = path !== undefined || options.follow !== undefined;
  const window = isIncremental ? new IncrementalWindow(overlap, bookmark) : undefined;
  const bookmarkedIds = new Set(window?.keptIds());
  const ids = new IdSet();
  for (const bookmarkedId of bookmarkedIds) ids.preload(bookmarkedId);
  const matcher = leadMatcher(filter);
  return {
    ...request,
    startedAt,
    query: { ...query, since: latest(query.since, window?.since) },
    passing: (leads) =>
      matcher.matchesAll && window === undefined
        ? leads
        : leads.filter((lead) => matcher.matches(lead) && window?.passes(lead) !== false),
    matcher,
    fields: new FieldPresence(options.fields ?? []),
    ids,
    interruptedRun: {
      get size() {
        return ids.size - bookmarkedIds.size;
      },
      has: (leadId) => ids.has(leadId) && !bookmarkedIds.has(leadId),
    },
    window,
    bookmark,
    account,
  };
}

export const writerOptionsOf = ({ options, service }: ExportPlan): WriterOptions => ({
  fields: options.fields,
  idName: service.dialect.id,
  escapeFormulas: options.escape,
  byteOrderMark: options.bom,
  delimiter: options.delimiter,
  zone: options.zone,
  onCut(cells) {
    const cut = counted(cells, 'cell was', 'cells were');
    service.messages.note('cut', `${cut} cut: a cell of a workbook holds 32,767 characters`);
  },
});

export const latest = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);

export const zeroTotals = (): Totals => ({ leads: 0, duplicates: 0, withoutId: 0, retries: 0, leftOut: [] });

/** The fate of a file that had the name of the output before; undefined: no file had it. */
export type Publication = 'appended' | `replaced ${string}`;

export interface ExportResult {
  /** The leads that an interrupted run of this export had written. */
  readonly earlierLeads: number;
  readonly publication?: Publication | undefined;
}
