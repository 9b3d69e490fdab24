/**
 * The one spelling of a JSON number: `1.0`, `1` and `10e-1` are the same, and no digit is lost to a double. An exponent
 * beyond reckoning leaves the number as it is written.
 */
export function normalizeDecimal(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  let end = digits.length;
  // Not by a pattern, which would look at a long run of zeros from each of them.
  while (digits[end - 1] === '0') end -= 1;
  const kept = digits.slice(0, end);
  if (kept === '') return '0';
  const power = Number(exponent) - fraction.length + digits.length - kept.length;
  return Number.isSafeInteger(power) ? `${sign}${kept}e${power}` : text;
}
