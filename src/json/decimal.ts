/**
 * The normal form of a JSON number: `1.0`, `1` and `10e-1` have the same, and no digit is lost as in a double. A number
 * whose exponent is beyond safe integers is returned unchanged.
 */
export function normalizeDecimal(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  let end = digits.length;
  // Not with a regular expression, which takes quadratic time on a long run of zeros.
  while (digits[end - 1] === '0') end -= 1;
  const significant = digits.slice(0, end);
  if (significant === '') return '0';
  const power = Number(exponent) - fraction.length + digits.length - significant.length;
  return Number.isSafeInteger(power) ? `${sign}${significant}e${power}` : text;
}
