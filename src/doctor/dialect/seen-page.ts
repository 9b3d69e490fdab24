import type { LeadsError } from '../../errors.ts';
import { isObject, type Json } from '../../json/exact.ts';
import { parseLead, type RawLead, readCreatedAt } from '../../lead/raw-lead.ts';
import type { PageFacts } from '../../service/pagers/hints.ts';
import type { LeadOrder } from '../problems.ts';

/** A lead of an answer, as far as comparisons need it. */
export interface SeenLead {
  /** Its id, or its bytes where it has none. */
  readonly key: string;
  readonly hasId: boolean;
  /** Milliseconds since the epoch; undefined where it cannot be read. */
  readonly createdAt: number | undefined;
  readonly record: Json;
}

export type LeadTest = (lead: SeenLead) => boolean;

export interface SeenPage {
  readonly kind: 'page';
  /** Records of the answer, or of the part of a very large one that was read. */
  readonly count: number;
  /** The first ones of them. */
  readonly leads: readonly SeenLead[];
  /** Undefined where a very large answer was not read to its end. */
  readonly facts: PageFacts | undefined;
}

/** What came of one request. */
export type Seen =
  | SeenPage
  /** The service rejected it, or failed at it, or answered something else than a page. */
  | {
      readonly kind: 'rejected';
      readonly status: number | undefined;
      readonly message: string;
      readonly error: LeadsError;
    }
  /** There is no request left for it. */
  | { readonly kind: 'unasked' };

/** Leads that are compared of one page. */
export const mostCompared = 1000;

export const seenLead = (lead: RawLead): SeenLead => ({
  key: lead.id ?? Buffer.from(lead.bytes).toString('latin1'),
  hasId: lead.id !== undefined,
  createdAt: readCreatedAt(lead.createdAt),
  record: parseLead(lead),
});

export const keysOf = ({ leads }: Pick<SeenPage, 'leads'>): readonly string[] => leads.map(({ key }) => key);

/** The front of the list without filters, and how many leads one answer holds at most. */
export interface KnownFront {
  readonly leads: readonly SeenLead[];
  readonly capacity: number;
}

const isAmong = (leads: readonly SeenLead[]): LeadTest => {
  const keys = new Set(keysOf({ leads }));
  return ({ key }) => keys.has(key);
};

/**
 * Whether an answer holds exactly those leads that a filter selects of a list, as far as the list is known: none that it
 * does not select, and none of the known ones missing.
 */
export function isSelection(seen: readonly SeenLead[], known: KnownFront, selects: LeadTest): boolean {
  if (seen.length === 0 || !seen.every(selects)) return false;
  const selected = known.leads.filter(selects);
  // Leads that arrived meanwhile, or that lie behind the known ones, may have taken the place of some on a full page.
  const shared = seen.filter(isAmong(known.leads)).length;
  const expected = seen.length >= known.capacity ? selected.slice(0, shared) : selected;
  return selected.length > 0 && expected.every(isAmong(seen));
}

/** Whether an answer is the known list again, but for leads that arrived meanwhile. */
export function isUnfiltered(seen: readonly SeenLead[], { leads, capacity }: KnownFront): boolean {
  const shared = seen.filter(isAmong(leads)).length;
  return shared > 0 && shared >= Math.min(leads.length, capacity) - 2;
}

/** Whether an answer with room for more holds none of the known leads that a filter selects. */
export function isLoss(seen: readonly SeenLead[], known: KnownFront, selects: LeadTest): boolean {
  const selected = known.leads.filter(selects);
  return seen.length < known.capacity && selected.length > 0 && !selected.some(isAmong(seen));
}

/** Undefined where their times of creation do not show it. */
export function orderOf(leads: readonly SeenLead[]): LeadOrder | undefined {
  const times = leads.flatMap(({ createdAt }) => createdAt ?? []);
  const steps = times.slice(1).map((time, i) => time - (times[i] ?? time));
  if (steps.every((step) => step === 0)) return undefined;
  if (steps.every((step) => step <= 0)) return 'newest-first';
  return steps.every((step) => step >= 0) ? 'oldest-first' : 'neither-by-time';
}

const usualNames = [
  '_id',
  'leadId',
  'lead_id',
  'uuid',
  'guid',
  'key',
  'reference',
  'externalId',
  'external_id',
];

/** Fields with usual names that hold another text or integer in every lead: where there is no `id`, one may be it. */
export function idFieldsOf(leads: readonly SeenLead[]): string[] {
  if (leads.length < 2) return [];
  return usualNames.filter((name) => {
    const values = leads.map(({ record }) => (isObject(record) ? record[name] : undefined));
    const isUsable = values.every(
      (value) => (typeof value === 'string' && value !== '') || Number.isInteger(value),
    );
    return isUsable && new Set(values).size === values.length;
  });
}
