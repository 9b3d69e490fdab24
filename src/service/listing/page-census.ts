import { isObject } from '../../json/exact.ts';
import { fieldAt, parseLead, type RawLead, readCreatedAt } from '../../lead/raw-lead.ts';
import type { RequestParams } from '../pagination/request-params.ts';
import type { LeadQuery } from './listing-types.ts';
import type { Dialect } from '../../config/dialect.ts';
import type { Service } from '../client/service.ts';
import type { ServiceProblem } from '../problems.ts';

/** A part of a page's leads that can be asked for: those of one category or status, or of one end of its times. */
export type Narrowing =
  | { readonly by: 'category' | 'status'; readonly value: string; readonly own: number }
  /** The page's oldest lead and all before it, or its newest one and all behind it; milliseconds since the epoch. */
  | { readonly by: 'until' | 'since'; readonly value: number; readonly own: number };

/** What a request for a part of the page's leads brought. */
export interface Narrowed {
  readonly of: Narrowing;
  readonly shows:
    /** The part, with no lead that the page lacks. */
    | 'all'
    /** A lead that the page lacks. */
    | 'cut'
    /** The filter is ignored, or goes by something else. */
    | 'nothing';
}

/** Statuses stand in records as the service likes: of more leads than that, the records are not parsed for them. */
const mostParsed = 2000;
/** What is created around the time of an answer may be in the next one only; ms. */
const clockPrecision = 5000;
const longestDelay = 60_000;

/** What the leads of a page hold by which a part of them can be asked for, and in which order they stand. */
export class PageCensus {
  readonly #statusFields: readonly string[];
  readonly #counts = { category: new Map<string, number>(), status: new Map<string, number>() };
  #count = 0;
  #withoutId = 0;
  #times: { oldest: number; newest: number; last: number; first: number } | undefined;
  #timed = 0;
  #last: Readonly<Record<'category' | 'status', string | undefined>> = {
    category: undefined,
    status: undefined,
  };
  #isFalling = true;
  #isRising = true;

  /** Dotted names of the fields that may hold a lead's status. */
  constructor(statusFields: readonly string[]) {
    this.#statusFields = statusFields;
  }

  add(leads: readonly (RawLead & { readonly hasId: boolean })[]): void {
    for (const lead of leads) {
      this.#count += 1;
      if (!lead.hasId) this.#withoutId += 1;
      const status = this.#count > mostParsed ? undefined : statusIn(lead, this.#statusFields)?.status;
      this.#last = { category: lead.category, status };
      count(this.#counts.category, lead.category);
      count(this.#counts.status, status);
      this.#addTime(readCreatedAt(lead.createdAt));
    }
  }

  #addTime(time: number | undefined): void {
    if (time === undefined) return;
    this.#timed += 1;
    const { oldest, newest, last, first } = this.#times ?? {
      oldest: time,
      newest: time,
      last: time,
      first: time,
    };
    this.#isFalling &&= time <= last;
    this.#isRising &&= time >= last;
    this.#times = { oldest: Math.min(oldest, time), newest: Math.max(newest, time), last: time, first };
  }

  get statusFields(): readonly string[] {
    return this.#statusFields;
  }

  /** The creation time of the oldest lead where the newest ones come first; otherwise undefined. */
  get oldestOfNewestFirst(): number | undefined {
    const times = this.#times;
    const isSorted = this.#timed === this.#count && this.#isFalling;
    return times !== undefined && isSorted && times.first > times.last ? times.oldest : undefined;
  }

  /** Parts that can be asked for, the most telling ones first. */
  narrowings(params: Pick<RequestParams, 'since' | 'until' | 'category' | 'status'>): Narrowing[] {
    // Leads are recognized by their ids.
    if (this.#withoutId > 0) return [];
    const found: Narrowing[] = [];
    const times = this.#times;
    if (times !== undefined && this.#timed === this.#count && times.oldest < times.newest) {
      if (params.until !== undefined && this.#isFalling)
        found.push({ by: 'until', value: times.oldest, own: 1 });
      if (params.since !== undefined && this.#isRising)
        found.push({ by: 'since', value: times.newest, own: 1 });
    }
    for (const by of ['category', 'status'] as const) {
      if (params[by] === undefined || (by === 'status' && this.#count > mostParsed)) continue;
      const parts = [...this.#counts[by]].filter(([, own]) => own < this.#count);
      // What a page lacks stands behind its last lead, and is like that rather than like the first ones.
      const isLast = (value: string): number => (value === this.#last[by] ? 1 : 0);
      parts.sort(([one, a], [other, b]) => isLast(other) - isLast(one) || b - a);
      for (const [value, own] of parts.slice(0, 2)) found.push({ by, value, own });
    }
    return found;
  }
}

function count(counts: Map<string, number>, value: string | undefined): void {
  if (value !== undefined && value !== '') counts.set(value, (counts.get(value) ?? 0) + 1);
}

/** The first of these fields that holds a text, which is not `except`. */
function statusIn(lead: RawLead, fields: readonly string[], except?: string) {
  const record = parseLead(lead);
  if (!isObject(record)) return undefined;
  for (const field of fields) {
    const status = fieldAt(record, field.split('.'));
    if (typeof status === 'string' && status !== except) return { field, status };
  }
  return undefined;
}

/** The page that a narrower request is compared with. */
export interface WholeList {
  readonly count: number;
  readonly isKnown: (id: string) => boolean;
  readonly census: PageCensus;
  /** When it was answered, by the service's clock. */
  readonly answeredAt: number;
}

/** What the leads of a narrower request say of the page. */
export class NarrowedAnswer {
  readonly #of: Narrowing;
  readonly #page: WholeList;
  readonly #known = new Set<string>();
  #count = 0;
  #unknown = 0;
  #isOfPart = true;

  constructor(of: Narrowing, page: WholeList) {
    this.#of = of;
    this.#page = page;
  }

  readonly add = (lead: RawLead): void => {
    this.#count += 1;
    const created = readCreatedAt(lead.createdAt);
    this.#isOfPart &&= this.#isWanted(lead, created);
    if (lead.id !== undefined && this.#page.isKnown(lead.id)) this.#known.add(lead.id);
    else if (!this.#isArrival(created)) this.#unknown += 1;
  };

  get shows(): Narrowed['shows'] {
    if (!this.#isOfPart || this.#count === 0) return 'nothing';
    if (this.#unknown > 0) return 'cut';
    return this.#count < this.#page.count && this.#known.size >= this.#of.own ? 'all' : 'nothing';
  }

  #isWanted(lead: RawLead, created: number | undefined): boolean {
    const { by, value } = this.#of;
    if (typeof value === 'string') {
      const { statusFields } = this.#page.census;
      return value === (by === 'category' ? lead.category : statusIn(lead, statusFields)?.status);
    }
    // A filter by date reaches a day further.
    return created !== undefined && (by === 'until' ? created - value : value - created) < day;
  }

  #isArrival(created: number | undefined): boolean {
    const since = (created ?? -Infinity) - this.#page.answeredAt;
    return since >= -clockPrecision && since <= longestDelay;
  }
}

const day = 86_400_000;

/** A query for that part; `widening` is what is added to a time when it is sent. */
export function narrowed(query: LeadQuery, part: Narrowing, widening: number): LeadQuery {
  switch (part.by) {
    case 'category':
      return { ...query, categories: [part.value] };
    case 'status':
      return { ...query, status: part.value };
    case 'until':
      return { ...query, until: part.value + 1 - widening };
    case 'since':
      return { ...query, since: part.value + widening };
  }
}

/** The specification names neither the field nor its values (section 2, gaps). */
export const statusFields: readonly string[] = [
  'status',
  'deliveryStatus',
  'delivery_status',
  'leadStatus',
  'lead_status',
  'state',
];

/** Records looked at per page: a filter that is ignored shows soon. */
const sample = 20;

/** Dotted names under which a lead of this service may show its delivery status. */
export const statusFieldsOf = ({ statusField = 'auto' }: Pick<Dialect, 'statusField'>): readonly string[] =>
  statusField === 'auto' ? statusFields : [statusField];

/** Says once when leads of another status come than the wanted one, and how to narrow here. */
export async function noteOtherStatus(
  service: Service,
  wanted: string,
  leads: readonly RawLead[],
): Promise<void> {
  const fields = statusFieldsOf(service.dialect);
  for (const lead of leads.slice(0, sample)) {
    const other = statusIn(lead, fields, wanted);
    if (other === undefined) continue;
    const note: ServiceProblem = { kind: 'other-status', ...other, wanted };
    service.messages.note('status', (await service.texts()).noteOf(note));
    return;
  }
}
