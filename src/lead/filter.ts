import { isObject, type Json } from '../json/exact.ts';
import { fieldsOf } from '../json/resource.ts';
import { fieldAt, parseLead, type RawLead, readCreatedAt } from './raw-lead.ts';
import { type Bound, boundOf, compareDecimals, comparesOrder, type Condition } from './filter-condition.ts';

/**
 * `categories` are alternatives; an empty list matches all. Times are milliseconds since the epoch: since <=
 * createdAt < until. `text` is looked for in any value of the lead, without regard to case and accents. In
 * `where`, durations such as `7d` count from `now`, and times without a zone are in `zone`, by default UTC.
 */
export interface LeadFilter {
  readonly categories: readonly string[];
  readonly since: number | undefined;
  readonly until: number | undefined;
  readonly where: readonly Condition[];
  readonly text?: string | undefined;
  readonly now?: number;
  readonly zone?: string;
}

/**
 * Its members count over all leads that were checked: `unreadableTimes` those that matched because their time
 * cannot be read, `unmatchedCategories` the categories that no lead has. `matchesCreated` is for a lead whose
 * creation time was read before.
 */
export interface LeadMatcher {
  readonly matches: (lead: RawLead) => boolean;
  readonly matchesAll: boolean;
  readonly matchesCreated: (lead: RawLead, created: number | undefined) => boolean;
  readonly unreadableTimes: number;
  readonly unmatchedCategories: ReadonlySet<string>;
  readonly fields: FieldPresence;
}

/**
 * Checks leads against a filter, and parses a record only for `where` and `text`. A lead without the category
 * or the field of the filter does not match, but a missing field differs from every value (`!=`). An array
 * fulfils a condition where one of its elements does. A lead whose
 * `createdAt` cannot be read always passes `since` and `until`, and is counted, because it may be a wanted
 * one.
 */
export function leadMatcher(filter: LeadFilter): LeadMatcher {
  const { categories, since, until, where, text, now = 0, zone } = filter;
  const holdsText = text === undefined ? undefined : textFinder(text);
  let unreadableTimes = 0;
  const isTimed = since !== undefined || until !== undefined;
  const isInTime = (created: number): boolean =>
    created >= (since ?? -Infinity) && created < (until ?? Infinity);
  const unmatchedCategories = new Set(categories);
  const fields = new FieldPresence(where.map(({ path }) => path.join('.')));
  const checks = where.map((condition) => conditionCheck(condition, now, zone));
  const matchesCreated = (lead: RawLead, created: number | undefined): boolean => {
    if (categories.length > 0) {
      const category = lead.category ?? '';
      if (!categories.includes(category)) return false;
      unmatchedCategories.delete(category);
    }
    if (created !== undefined && !isInTime(created)) return false;
    if (checks.length > 0 || holdsText !== undefined) {
      const record = parseLead(lead);
      if (holdsText?.(record) === false) return false;
      fields.examine(record);
      if (!checks.every((holds) => holds(record))) return false;
    }
    if (isTimed && created === undefined) unreadableTimes += 1;
    return true;
  };
  return {
    matches: (lead) => matchesCreated(lead, isTimed ? readCreatedAt(lead.createdAt) : undefined),
    matchesAll: !isTimed && categories.length === 0 && checks.length === 0 && holdsText === undefined,
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
  if (order === undefined) return false;
  if (order === 0) return operator.endsWith('=');
  return operator.startsWith('<') ? order < 0 : order > 0;
}

/** Returns a number below zero when the field is less. Undefined for a field of another kind than the bound. */
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

const maxNames = 24;
const longestName = 60;
const maxDepth = 4;

/**
 * Finds out which of the fields that a person named occur in no lead, and for a message about them, which names
 * leads have: a typing error in a name would silently match nothing.
 */
export class FieldPresence {
  readonly #missing: Set<string>;
  readonly #names = new Set<string>();
  #hasExamined = false;

  constructor(paths: readonly string[]) {
    this.#missing = new Set(paths);
  }

  /** A lead is parsed only until every field was found. */
  examineLead(lead: Pick<RawLead, 'bytes'>): void {
    if (this.#isSearching) this.examine(parseLead(lead));
  }

  get #isSearching(): boolean {
    return this.#missing.size > 0;
  }

  examine(record: Json): void {
    if (!this.#isSearching) return;
    this.#hasExamined = true;
    for (const path of this.#missing) {
      if (fieldAt(record, path.split('.')) !== undefined) this.#missing.delete(path);
    }
    this.#collectNames(isObject(record) ? fieldsOf(record) : record, '', 1);
  }

  /** The fields that no lead has; empty while there was no lead. */
  get missing(): readonly string[] {
    return this.#hasExamined ? [...this.#missing] : [];
  }

  /** Dotted paths of fields of the leads, in the order of their appearance; their number is bounded. */
  get names(): readonly string[] {
    return [...this.#names];
  }

  #collectNames(value: Json, prefix: string, depth: number): void {
    if (!isObject(value)) return;
    for (const [key, member] of Object.entries(value)) {
      if (this.#names.size >= maxNames) return;
      const path = prefix + key;
      if (isObject(member) && depth < maxDepth) this.#collectNames(member, `${path}.`, depth + 1);
      else if (path.length <= longestName) this.#names.add(path);
    }
  }
}

/** Removes case and the marks of letters: `Ángel` and `ANGEL` are the same. */
const foldText = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

const phoneNumber = /^[+\d\s().\-/]+$/;
/** Fewer digits occur in nearly every lead. */
const fewestDigits = 5;

/** Returns a function that finds a text in any value of a record; digits also where they are grouped in another way. */
function textFinder(typed: string): (value: Json) => boolean {
  const folded = foldText(typed);
  const digits = phoneNumber.test(typed) ? typed.replace(/\D/g, '') : '';
  const holdsText = (value: Json): boolean => {
    if (value === null) return false;
    if (typeof value === 'object') return Object.values(value).some(holdsText);
    const text = String(value);
    const isNumber = digits.length >= fewestDigits && text.replace(/\D/g, '').includes(digits);
    return isNumber || foldText(text).includes(folded);
  };
  return holdsText;
}
