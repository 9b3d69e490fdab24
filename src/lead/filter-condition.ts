import { UsageError } from '../errors.ts';
import { parseInstant } from '../time/time-text.ts';

const operators = ['!=', '>=', '<=', '=', '~', '>', '<'] as const;

export interface Condition {
  readonly path: readonly string[];
  readonly operator: (typeof operators)[number];
  readonly value: string;
}

/**
 * Parses `metadata.source=facebook`, `contact.email~@example.com` or `score>=10`. Spaces around the operator
 * are ignored, and `==` is `=`. Undefined without a path or an operator. Throws a `UsageError` when neither a
 * number nor a time follows `>` or `<`.
 */
export function parseCondition(text: string): Condition | undefined {
  const [, typedPath = '', typedOperator, typedValue = ''] =
    /^([^=!~<>]+)(!=|>=|<=|==|=(?![~<>])|[~<>])([^]*)$/.exec(text) ?? [];
  const path = typedPath.trim();
  const operator = typedOperator === '==' ? '=' : operators.find((name) => name === typedOperator);
  if (path === '' || operator === undefined) return undefined;
  const condition = { path: path.split('.'), operator, value: typedValue.trimStart() };
  if (comparesOrder(condition) && boundOf(condition.value, 0) === undefined) {
    throw new UsageError(`the condition '${text}' needs a number or a time after '${operator}'`, {
      hint: 'such as 10, 2026-01-31, yesterday or 7d',
    });
  }
  return condition;
}

export const comparesOrder = ({ operator }: Condition): boolean => /^[<>]/.test(operator);

export type Bound = { readonly number: string } | { readonly time: number };

const decimal = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;
const integer = /^-?\d+$/;

/**
 * Parses a number with all its digits, or a point in time as the flags take it; `now` is in milliseconds.
 * Undefined for any other text.
 */
export function boundOf(value: string, now: number, zone?: string): Bound | undefined {
  if (decimal.test(value)) return { number: value };
  const time = parseInstant(value, now, zone);
  return time === undefined ? undefined : { time };
}

/**
 * Returns a number below zero when the first is less, and compares integers beyond 2^53 digit by digit.
 * The difference of two that are beyond every double is NaN. Undefined for any other text.
 */
export function compareDecimals(first: string, second: string): number | undefined {
  if (!decimal.test(first) || !decimal.test(second)) return undefined;
  const difference = Number(first) - Number(second);
  const isClear = difference < 0 || difference > 0;
  if (isClear || !integer.test(first) || !integer.test(second)) return difference;
  return Number(BigInt(first) - BigInt(second));
}
