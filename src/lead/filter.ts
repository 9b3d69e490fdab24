import { isObject, type Json } from '../json/exact.ts';
import { fieldsOf } from '../json/resource.ts';
import { fieldAt, parseLead, type RawLead, readCreatedAt } from './raw-lead.ts';
import { type Bound, boundOf, compareDecimals, comparesOrder, type Condition } from './filter-condition.ts';

export interface LeadFilter {
  /** Alternatives; an empty list matches all. */
  readonly categories: readonly string[];
  /** Milliseconds since the epoch: since <= createdAt < until. */
  readonly since: number | undefined;
  readonly until: number | undefined;
  readonly where: readonly Condition[];
  /** A text in any value of the lead, without regard to case and accents. */
  readonly text?: string | undefined;
  /** The time in milliseconds from which durations such as `7d` in `where` count. */
  readonly now?: number;
  /** The zone of such times without their own. Default UTC. */
  readonly zone?: string;
}

export interface LeadMatcher {
  readonly matches: (lead: RawLead) => boolean;
  readonly matchesCreated: (lead: RawLead, created: number | undefined) => boolean;
  /** The number of leads that matched because their time cannot be read. */
  readonly unreadableTimes: number;
  /** The categories of the filter that no lead has. */
  readonly unmatchedCategories: ReadonlySet<string>;
  readonly fields: FieldPresence;
}

/**
 * Checks leads against a filter, and parses a record only for `where`. A lead without the category or the
 * field of the filter does not match, but a missing field differs from every value (`!=`). A lead whose
 * `createdAt` cannot be read always passes `since` and `until`, and is counted, because it may be a wanted
 * one.
 */
export function leadFilter(filter: LeadFilter): LeadMatcher {
  const { categories, since, until, where, text, now = 0, zone } = filter;
  const finds = text === undefined ? undefined : textFinder(text);
  let unreadableTimes = 0;
  const isTimed = since !== undefined || until !== undefined;
  const unmatchedCategories = new Set(categories);
  const fields = new FieldPresence(where.map(({ path }) => path.join('.')));
  const checks = where.map((condition) => conditionCheck(condition, now, zone));
  const matchesCreated = (lead: RawLead, created: number | undefined): boolean => {
    if (categories.length > 0) {
      const category = lead.category ?? '';
      if (!categories.includes(category)) return false;
      unmatchedCategories.delete(category);
    }
    if (
      isTimed &&
      created !== undefined &&
      !(created >= (since ?? -Infinity) && created < (until ?? Infinity))
    ) {
      return false;
    }
    if (checks.length > 0 || finds !== undefined) {
      const record = parseLead(lead);
      if (finds?.(record) === false) return false;
      fields.look(record);
      if (!checks.every((holds) => holds(record))) return false;
    }
    if (isTimed && created === undefined) unreadableTimes += 1;
    return true;
  };
  return {
    matches: (lead) => matchesCreated(lead, isTimed ? readCreatedAt(lead.createdAt) : undefined),
    matchesCreated,
    unmatchedCategories,
    fields,
    get unreadableTimes() {
      return unreadableTimes;
    },
  };
}

type ConditionCheck = (record: Json) => boolean;

function conditionCheck(condition: Condition, now: number, zone: string | undefined): ConditionCheck {
  const { path, operator, value } = condition;
  const folded = foldText(value);
  const bound = comparesOrder(condition) ? boundOf(value, now, zone) : undefined;
  const holds = (element: Json): boolean => {
    if (bound !== undefined) return isOrdered(compare(element, bound), operator);
    return operator === '~' ? foldText(textOf(element)).includes(folded) : equals(element, value);
  };
  return (record) => anyOf(fieldAt(record, path), holds) !== (operator === '!=');
}

function isOrdered(order: number | undefined, operator: Condition['operator']): boolean {
  if (order === undefined || order === 0) return order === 0 && operator.endsWith('=');
  return operator.startsWith('<') ? order < 0 : order > 0;
}

/**
 * Returns a number below zero when the field is less. Undefined for a field of another kind than the bound.
 */
function compare(field: Json, bound: Bound): number | undefined {
  if ('number' in bound) return compareDecimals(textOf(field), bound.number);
  const time = readCreatedAt(field);
  return time === undefined ? undefined : time - bound.time;
}

function anyOf(field: Json | undefined, test: (element: Json) => boolean): boolean {
  if (field === undefined) return false;
  return Array.isArray(field) ? (field as readonly Json[]).some(test) : test(field);
}

function equals(field: Json, value: string): boolean {
  if (typeof field === 'number' && /^-?\d/.test(value)) return field === Number(value);
  return textOf(field) === value;
}

const textOf = (field: Json): string => (typeof field === 'string' ? field : JSON.stringify(field));

const mostNames = 24;
const longestName = 60;
const maxDepth = 4;

export class FieldPresence {
  readonly #missing: Set<string>;
  readonly #names = new Set<string>();
  #looked = false;

  constructor(paths: readonly string[]) {
    this.#missing = new Set(paths);
  }

  /** False once every field was found: further leads need no look. */
  get searching(): boolean {
    return this.#missing.size > 0;
  }

  look(record: Json): void {
    if (!this.searching) return;
    this.#looked = true;
    for (const path of this.#missing) {
      if (fieldAt(record, path.split('.')) !== undefined) this.#missing.delete(path);
    }
    this.#learn(isObject(record) ? fieldsOf(record) : record, '', 1);
  }

  /** The fields that no lead has; empty while there was no lead. */
  get missing(): readonly string[] {
    return this.#looked ? [...this.#missing] : [];
  }

  /** Dotted paths of fields of the leads, in the order of their appearance; their number is bounded. */
  get names(): readonly string[] {
    return [...this.#names];
  }

  #learn(value: Json, prefix: string, depth: number): void {
    if (!isObject(value)) return;
    for (const [key, member] of Object.entries(value)) {
      if (this.#names.size >= mostNames) return;
      const path = prefix + key;
      if (isObject(member) && depth < maxDepth) this.#learn(member, `${path}.`, depth + 1);
      else if (path.length <= longestName) this.#names.add(path);
    }
  }
}

/** Removes case and the marks of letters: `Ángel` and `ANGEL` are the same. */
const foldText = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** Digits as people group them; shorter ones are in nearly every lead. */
const phoneNumber = /^[+\d\s().\-/]{5,}$/;

/**
 * Returns a function that finds a text in any value of a record, without regard to case and accents, and in a
 * phone number to the grouping of digits.
 */
function textFinder(typed: string): (value: Json) => boolean {
  const folded = foldText(typed);
  const digits = phoneNumber.test(typed) ? typed.replace(/\D/g, '') : '';
  const finds = (value: Json): boolean => {
    if (value === null) return false;
    if (typeof value === 'object') return Object.values(value).some(finds);
    const text = String(value);
    return foldText(text).includes(folded) || (digits.length > 4 && text.replace(/\D/g, '').includes(digits));
  };
  return finds;
}
