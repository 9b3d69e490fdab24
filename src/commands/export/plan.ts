import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { FieldPresence, leadMatcher, type LeadMatcher } from '../../lead/filter.ts';
import { IdSet } from '../../lead/id-set.ts';
import { parseLead, type RawLead } from '../../lead/raw-lead.ts';
import type { WriterOptions } from '../../output/records/record-types.ts';
import { counted } from '../../output/terminal/progress.ts';
import type { StatusLine } from '../../output/terminal/status-line.ts';
import type { Service } from '../../service/client/service.ts';
import type { LeadQuery, ListingOptions } from '../../service/listing-types.ts';
import type { Position } from '../../service/pagers/position.ts';
import { resolveFilter } from '../flags/resolve-filter.ts';
import { type Bookmark, IncrementalWindow, readBookmark } from './bookmark.ts';
import type { Totals } from './checkpoint.ts';
import type { ExportOptions } from './command.ts';

const usualOverlapMs = 86_400_000;

export interface ExportRequest {
  readonly service: Service;
  readonly options: ExportOptions;
  readonly context: Context;
  readonly totals: Totals;
}

export interface ExportPlan extends ExportRequest {
  /** When the first attempt began, in ms: relative times count from here. */
  readonly startedAt: number;
  readonly query: LeadQuery;
  readonly passes: (lead: RawLead) => boolean;
  readonly matcher: LeadMatcher;
  /** It notices which names of `--fields` no lead had. */
  readonly fields: FieldPresence;
  readonly ids: IdSet;
  /** The part of `ids` that no bookmark brought: an interrupted export, or an earlier walk of this run, has met them. */
  readonly interruptedRun: ListingOptions['interruptedRun'];
  /** The next run or poll begins where this says; it is set with `--bookmark` and `--follow`. */
  readonly window: IncrementalWindow | undefined;
  readonly bookmark: Bookmark | undefined;
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
  const ids = new IdSet();
  const { bookmark: path, overlap = usualOverlapMs } = options;
  const bookmark = path === undefined ? undefined : await readBookmark(path);
  if (bookmark !== undefined && JSON.stringify(bookmark.of) !== JSON.stringify(account)) {
    throw new UsageError(`the bookmark ${path ?? ''} belongs to another service or other filters`, {
      hint: 'use one bookmark for each service and set of filters',
    });
  }
  const window =
    path === undefined && options.follow === undefined ? undefined : new IncrementalWindow(overlap, bookmark);
  const bookmarked = new Set(window?.ids());
  for (const bookmarkedId of bookmarked) ids.preload(bookmarkedId);
  const interruptedRun: ExportPlan['interruptedRun'] = {
    get size() {
      return ids.size - bookmarked.size;
    },
    has: (leadId) => ids.has(leadId) && !bookmarked.has(leadId),
  };
  const since = latest(query.since, window?.since);
  const matcher = leadMatcher(filter);
  const fields = new FieldPresence(options.fields ?? []);
  const passes = (lead: RawLead): boolean => {
    if (!matcher.matches(lead) || window?.passes(lead) === false) return false;
    if (fields.isSearching) fields.examine(parseLead(lead));
    return true;
  };
  return {
    ...request,
    startedAt,
    query: { ...query, since },
    passes,
    matcher,
    fields,
    ids,
    interruptedRun,
    window,
    bookmark,
    account,
  };
}

export const formOf = ({ options, service }: Pick<ExportPlan, 'options' | 'service'>): WriterOptions => ({
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

export const noTotals = (): Totals => ({
  leads: 0,
  duplicates: 0,
  withoutId: 0,
  retries: 0,
  leftOut: [],
});

export type Publication = 'appended' | `replaced ${string}`;

export interface Written {
  /** An interrupted export had written so many of its leads. */
  readonly earlierLeads: number;
  readonly publication?: Publication | undefined;
}

/** A file that can be resumed until it has its name, or a stream whose bytes cannot be taken back. */
export interface Destination {
  /** Undefined where the leads that are written show how far it is. */
  readonly status: StatusLine | undefined;
  begin?(): Promise<void>;
  /** The first walk begins here, and begins here again after an outage; undefined: at the first page. */
  position?(): Position | undefined;
  write(leads: readonly RawLead[]): Promise<void>;
  /** A page is complete; the next one begins at `next`, undefined after the last. */
  pageEnd(next: Position | undefined): Promise<void>;
  walkEnd(): Promise<void>;
  end(): Promise<Publication | undefined>;
  /** Keeps as much as it can of an export that breaks off, and says in a sentence what is kept. */
  breakOff(error: unknown, isInterrupted: boolean): Promise<string | undefined>;
  close(): Promise<void>;
}
