import type { Condition } from './condition.ts';
import { fieldAt, parseLead } from './field.ts';
import type { Json } from '../json/exact.ts';
import type { RawLead } from './raw-lead.ts';

export interface LeadFilter {
  /** Any of these; empty means all. */
  readonly categories: readonly string[];
  /** Milliseconds since the epoch: since <= createdAt < until. */
  readonly since: number | undefined;
  readonly until: number | undefined;
  /** All of these. */
  readonly where: readonly Condition[];
}

/**
 * Whether a lead passes. A record is parsed only for `where`. A lead without the field that is filtered by, or with a
 * `createdAt` that is no time, does not pass; a missing field does differ from every value (`!=`).
 */
export function leadFilter(filter: LeadFilter): (lead: RawLead) => boolean {
  const { categories, since, until, where } = filter;
  return (lead) => {
    if (categories.length > 0 && !categories.includes(lead.category ?? '')) return false;
    if (since !== undefined || until !== undefined) {
      const created = createdMs(lead);
      if (!(created >= (since ?? -Infinity) && created < (until ?? Infinity))) return false;
    }
    if (where.length === 0) return true;
    const record = parseLead(lead);
    return where.every((condition) => holds(condition, fieldAt(record, condition.path)));
  };
}

/** Milliseconds since the epoch, NaN when there is no such time. A time without a zone is UTC, as the service's are. */
export function createdMs(lead: Pick<RawLead, 'createdAt'>): number {
  const text = lead.createdAt;
  if (text === undefined) return Number.NaN;
  return Date.parse(/^\d{4}-\d\d-\d\d[T ][\d:.,]+$/.test(text) ? `${text.replace(' ', 'T')}Z` : text);
}

function holds({ operator, value }: Condition, field: Json | undefined): boolean {
  if (operator === '!=') return !anyOf(field, (one) => equals(one, value));
  return anyOf(field, (one) => (operator === '=' ? equals(one, value) : textOf(one).includes(value)));
}

/** A list passes when one of its elements does. */
function anyOf(field: Json | undefined, test: (one: Json) => boolean): boolean {
  if (field === undefined) return false;
  return Array.isArray(field) ? (field as readonly Json[]).some(test) : test(field);
}

function equals(field: Json, value: string): boolean {
  if (typeof field === 'number' && /^-?\d/.test(value)) return field === Number(value);
  return textOf(field) === value;
}

const textOf = (field: Json): string => (typeof field === 'string' ? field : JSON.stringify(field));
