import { UsageError } from '../../errors.ts';
import { type Expectation, type Measure, measureUnits } from '../../stats/expectations.ts';
import { parseDuration } from '../../time/time-text.ts';

/** The value of `--expect`, `gap<30m,duplicate<5%,p95<10s`. Throws a `UsageError` with the grammar for anything else. */
export function parseExpectations(typed: string): readonly Expectation[] {
  return typed.split(',').map((part) => parseExpectation(part.trim()));
}

/** A measure, an operator and a bound, with or without spaces between them. */
const comparison = /^([a-z0-9]+)\s*(<=|>=|<|>)\s*(\S+)$/;

function parseExpectation(text: string): Expectation {
  const [, measure = '', operator, bound = ''] = comparison.exec(text) ?? [];
  if (operator === undefined) throw expectationError(`'${text}' is no expectation`);
  if (!isMeasure(measure)) throw expectationError(`there is no measure '${measure}'`);
  const usualUnit = measureUnits[measure];
  const unit = usualUnit === 'share' && !bound.endsWith('%') ? 'number' : usualUnit;
  const value = boundValue(bound, unit);
  if (value === undefined)
    throw expectationError(`${measure} is compared with ${boundTexts[usualUnit]}, and '${bound}' is none`);
  return { text, measure, operator: operator as Expectation['operator'], bound: value, unit };
}

const boundTexts: Readonly<Record<Expectation['unit'], string>> = {
  duration: 'a duration such as 30m',
  share: 'a share such as 5%, or a number',
  number: 'a number',
};

const expectationError = (message: string): UsageError =>
  new UsageError(`--expect: ${message}`, {
    hint:
      `it is MEASURE<VALUE, also with <=, > or >=, and several are separated by commas: ${Object.keys(measureUnits).join(', ')}; ` +
      "gap and p50 to p99 with a duration, the others up to backfilled with a share or a number, such as 'gap<30m,duplicate<5%,p95<10s'",
  });

const isMeasure = (name: string): name is Measure => Object.hasOwn(measureUnits, name);

/** The bound as it is compared: milliseconds, a share from 0 to 1, or a number. Undefined for a text of another unit. */
function boundValue(bound: string, unit: Expectation['unit']): number | undefined {
  if (unit === 'duration') return parseDuration(bound);
  const [, digits, percent] = /^(\d+(?:\.\d+)?)(%?)$/.exec(bound) ?? [];
  if (digits === undefined || (percent === '%') !== (unit === 'share')) return undefined;
  return unit === 'share' ? Number(digits) / 100 : Number(digits);
}
