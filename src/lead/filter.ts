import { isObject, type Json } from '../json/exact.ts';
import { fieldsOf } from '../json/resource.ts';
import { fieldAt, parseLead, type RawLead, readCreatedAt } from './raw-lead.ts';
import { type Bound, boundOf, compareDecimals, comparesOrder, type Condition } from './filter-condition.ts';

export interface LeadFilter {
  /** Any of these; empty means all. */
  readonly categories: readonly string[];
  /** Milliseconds since the epoch: since <= createdAt < until. */
  readonly since: number | undefined;
  readonly until: number | undefined;
  /** All of these. */
  readonly where: readonly Condition[];
  /** In any value of the lead, without regard to case and accents. */
  readonly text?: string | undefined;
  /** What times such as `7d` in `where` count from, ms; needed only where there are such. */
  readonly now?: number;
  /** In which such times without a zone of their own are. Default UTC. */
  readonly zone?: string;
}

export interface LeadMatcher {
  /** May be passed on by itself. */
  readonly matches: (lead: RawLead) => boolean;
  /** The same of a lead whose `createdAt` the caller has read. */
  readonly matchesCreated: (lead: RawLead, created: number | undefined) => boolean;
  /** Leads that matched although they should have been filtered by a time that cannot be read. */
  readonly unreadableTimes: number;
  /** Categories that were asked for and that no lead had. */
  readonly unmatchedCategories: readonly string[];
  /** Of the fields in `where`. */
  readonly fields: FieldPresence;
  /** Conditions with `<` or `>` whose field is there, and never a number or a time as theirs. */
  readonly incomparable: readonly Condition[];
}

/**
 * Checks leads against a filter. A record is parsed only for `where`. A lead without the category or the field that is
 * filtered by does not match; a missing field does differ from every value (`!=`). A lead whose `createdAt` cannot be
 * read is never dropped by `since` or `until`: it may be one that is wanted, so it matches and is counted.
 */
export function leadFilter(filter: LeadFilter): LeadMatcher {
  const { categories, since, until, where, text, now = 0, zone } = filter;
  const finds = text === undefined ? undefined : textFinder(text);
  let unreadableTimes = 0;
  const isTimed = since !== undefined || until !== undefined;
  const unmatched = new Set(categories);
  const fields = new FieldPresence(where.map(({ path }) => path.join('.')));
  const checks = where.map((condition) => conditionCheck(condition, now, zone));
  const matchesCreated = (lead: RawLead, created: number | undefined): boolean => {
    if (categories.length > 0) {
      const category = lead.category ?? '';
      if (!categories.includes(category)) return false;
      unmatched.delete(category);
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
      if (!checks.every(({ condition, holds }) => holds(fieldAt(record, condition.path)))) return false;
    }
    if (isTimed && created === undefined) unreadableTimes += 1;
    return true;
  };
  return {
    matches: (lead) => matchesCreated(lead, isTimed ? readCreatedAt(lead.createdAt) : undefined),
    matchesCreated,
    fields,
    get unreadableTimes() {
      return unreadableTimes;
    },
    get unmatchedCategories() {
      return [...unmatched];
    },
    get incomparable() {
      return checks.filter((check) => check.isIncomparable()).map(({ condition }) => condition);
    },
  };
}

interface ConditionCheck {
  readonly condition: Condition;
  readonly holds: (field: Json | undefined) => boolean;
  readonly isIncomparable: () => boolean;
}

function conditionCheck(condition: Condition, now: number, zone: string | undefined): ConditionCheck {
  const { operator, value } = condition;
  const folded = foldText(value);
  const bound = comparesOrder(condition) ? boundOf(value, now, zone) : undefined;
  let wasThere = false;
  let wasCompared = false;
  const isOrdered = (field: Json, than: Bound): boolean => {
    wasThere = true;
    const order = compare(field, than);
    if (order === undefined) return false;
    wasCompared = true;
    if (order === 0) return operator.endsWith('=');
    return operator.startsWith('<') ? order < 0 : order > 0;
  };
  const holds = (field: Json | undefined): boolean => {
    if (operator === '!=') return !anyOf(field, (element) => equals(element, value));
    return anyOf(field, (element) => {
      if (bound !== undefined) return isOrdered(element, bound);
      return operator === '=' ? equals(element, value) : foldText(textOf(element)).includes(folded);
    });
  };
  return { condition, holds, isIncomparable: () => wasThere && !wasCompared };
}

/** Below zero when the field is less. Undefined for a field that is no number, or no time, as the bound is. */
function compare(field: Json, bound: Bound): number | undefined {
  if ('number' in bound) return compareDecimals(textOf(field), bound.number);
  const time = readCreatedAt(field);
  return time === undefined ? undefined : time - bound.time;
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

const mostNames = 24;
const longestName = 60;
const maxDepth = 4;

/** Which of the fields that were asked for no lead has, and what the fields of the leads are called. */
export class FieldPresence {
  readonly #missing: Set<string>;
  readonly #names = new Set<string>();
  #looked = false;

  constructor(paths: readonly string[]) {
    this.#missing = new Set(paths);
  }

  /** False once every field was seen: then there is no need to look at further leads. */
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

  /** Fields that none of the leads has; none as long as there was no lead. */
  get missing(): readonly string[] {
    return this.#looked ? [...this.#missing] : [];
  }

  /** Dot paths of fields that the leads do have, in the order of first appearance, a bounded number of them. */
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

/** A text without case and without the marks of its letters: `Ángel` and `ANGEL` are the same. */
const foldText = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** Digits as people group them; shorter ones are in nearly every lead. */
const phoneNumber = /^[+\d\s().\-/]{5,}$/;

/**
 * Whether a record holds a text in any value, without regard to case and accents, and of a phone number to how its digits
 * are grouped.
 */
export function textFinder(typed: string): (value: Json) => boolean {
  const wanted = foldText(typed);
  const digits = phoneNumber.test(typed) ? typed.replace(/\D/g, '') : '';
  const finds = (value: Json): boolean => {
    if (value === null) return false;
    if (typeof value === 'object') return Object.values(value).some(finds);
    const text = String(value);
    return foldText(text).includes(wanted) || (digits.length > 4 && text.replace(/\D/g, '').includes(digits));
  };
  return finds;
}
