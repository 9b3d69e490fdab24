import { UsageError } from '../errors.ts';
import { parseDuration } from '../time/duration.ts';

/** What can be expected, and how its value is written. */
const measures = {
  gap: 'duration',
  p50: 'duration',
  p90: 'duration',
  p95: 'duration',
  p99: 'duration',
  accepted: 'share',
  duplicate: 'share',
  pending: 'share',
  rejected: 'share',
  backfilled: 'share',
  attempts: 'number',
  received: 'number',
  total: 'number',
} as const;

type Measure = keyof typeof measures;

/** One part of `--expect`: durations in milliseconds, shares from 0 to 1. */
export interface Expectation {
  /** As it was typed. */
  readonly text: string;
  readonly measure: Measure;
  readonly operator: '<' | '<=' | '>' | '>=';
  readonly bound: number;
  /** What the bound is: a share of all deliveries, or of leads for `backfilled`, was written with `%`; else a number. */
  readonly unit: 'duration' | 'share' | 'number';
}

const written = {
  duration: 'a duration such as 30m',
  share: 'a share such as 5%, or a number',
  number: 'a number',
} as const;

const names = Object.keys(measures).join(', ');

const expectationGrammar =
  `it is MEASURE<VALUE, also with <=, > or >=, and several are separated by commas: ${names}; ` +
  "gap and p50 to p99 with a duration, the others up to backfilled with a share or a number, such as 'gap<30m,duplicate<5%,p95<10s'";

/** `gap<30m,duplicate<5%,p95<10s`. Throws a `UsageError` with the grammar for anything else. */
export function parseExpectations(typed: string): readonly Expectation[] {
  return typed.split(',').map((part) => parseExpectation(part.trim()));
}

function parseExpectation(text: string): Expectation {
  const [, name = '', operator, value = ''] = /^([a-z0-9]+)\s*(<=|>=|<|>)\s*(\S+)$/.exec(text) ?? [];
  if (operator === undefined) {
    throw new UsageError(`--expect: '${text}' is no expectation`, { hint: expectationGrammar });
  }
  if (!isMeasure(name)) {
    throw new UsageError(`--expect: there is no measure '${name}'`, { hint: expectationGrammar });
  }
  const kind = measures[name];
  const unit = kind === 'share' && !value.endsWith('%') ? 'number' : kind;
  const bound = boundOf(value, unit);
  if (bound === undefined) {
    throw new UsageError(`--expect: ${name} is compared with ${written[kind]}, and '${value}' is none`, {
      hint: expectationGrammar,
    });
  }
  return { text, measure: name, operator: operator as Expectation['operator'], bound, unit };
}

const isMeasure = (name: string): name is Measure => Object.hasOwn(measures, name);

function boundOf(value: string, unit: Expectation['unit']): number | undefined {
  if (unit === 'duration') return parseDuration(value);
  const [, digits, percent] = /^(\d+(?:\.\d+)?)(%?)$/.exec(value) ?? [];
  if (digits === undefined || (percent === '%') !== (unit === 'share')) return undefined;
  return unit === 'share' ? Number(digits) / 100 : Number(digits);
}
