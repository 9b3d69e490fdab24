import { replaceNumbers } from '../../json/numbers.ts';

/**
 * jq keeps all digits of a number that a filter only moves, and writes some with an exponent of its own: `1e400` becomes
 * `1E+400`. Gives such numbers of `line` the form that they have in `input`. What jq computes has no capital `E`.
 */
export function withOwnNumbers(line: string, input: () => string): string {
  if (!/\dE[+-]?\d/.test(line)) return line;
  const forms = new Map<string, string>();
  replaceNumbers(input(), (token) => {
    const written = asWrittenByJq(token);
    const other = forms.get(written);
    forms.set(written, other === undefined || other === token ? token : written);
    return token;
  });
  return replaceNumbers(line, (token) => (token.includes('E') ? (forms.get(token) ?? token) : token));
}

/** The scientific string of the General Decimal Arithmetic Specification, which jq's numbers follow. */
function asWrittenByJq(token: string): string {
  const [, sign = '', whole = '', fraction = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token) ?? [];
  if (whole === '') return token;
  const digits = `${whole}${fraction}`.replace(/^0+(?=\d)/, '');
  const exponent = Number(power) - fraction.length;
  const adjusted = exponent + digits.length - 1;
  // Anything else is written without an exponent.
  if (exponent <= 0 && adjusted >= -6) return token;
  const rest = digits.length === 1 ? '' : `.${digits.slice(1)}`;
  return `${sign}${digits.charAt(0)}${rest}E${adjusted < 0 ? '-' : '+'}${Math.abs(adjusted)}`;
}
