import type { Condition } from './condition.ts';
import { readCreatedAt } from './created-at.ts';
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

export interface LeadMatcher {
  /** May be passed on by itself. */
  readonly matches: (lead: RawLead) => boolean;
  /** Leads that matched although they should have been filtered by a time that cannot be read. */
  readonly unreadableTimes: number;
}

/**
 * Checks leads against a filter. A record is parsed only for `where`. A lead without the category or the field that is
 * filtered by does not match; a missing field does differ from every value (`!=`). A lead whose `createdAt` cannot be
 * read is never dropped by `since` or `until`: it may be one that is wanted, so it matches and is counted.
 */
export function leadFilter({ categories, since, until, where }: LeadFilter): LeadMatcher {
  let unreadableTimes = 0;
  const isTimed = since !== undefined || until !== undefined;
  const matches = (lead: RawLead): boolean => {
    if (categories.length > 0 && !categories.includes(lead.category ?? '')) return false;
    const created = isTimed ? readCreatedAt(lead.createdAt) : undefined;
    if (created !== undefined && !(created >= (since ?? -Infinity) && created < (until ?? Infinity))) {
      return false;
    }
    if (where.length > 0) {
      const record = parseLead(lead);
      if (!where.every((condition) => holds(condition, fieldAt(record, condition.path)))) return false;
    }
    if (isTimed && created === undefined) unreadableTimes += 1;
    return true;
  };
  return {
    matches,
    get unreadableTimes() {
      return unreadableTimes;
    },
  };
}

function holds({ operator, value }: Condition, field: Json | undefined): boolean {
  if (operator === '!=') return !anyOf(field, (element) => equals(element, value));
  return anyOf(field, (element) =>
    operator === '=' ? equals(element, value) : textOf(element).includes(value),
  );
}

/** Whether a field, or one of the elements of a list, passes the test. */
function anyOf(field: Json | undefined, test: (element: Json) => boolean): boolean {
  if (field === undefined) return false;
  return Array.isArray(field) ? (field as readonly Json[]).some(test) : test(field);
}

function equals(field: Json, value: string): boolean {
  if (typeof field === 'number' && /^-?\d/.test(value)) return field === Number(value);
  return textOf(field) === value;
}

const textOf = (field: Json): string => (typeof field === 'string' ? field : JSON.stringify(field));
