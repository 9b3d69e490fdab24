/** Valid JSON with its numbers replaced. Strings are skipped by hand: a regular expression fails on one of megabytes. */
export function replaceNumbers(json: string, replace: (number: string) => string): string {
  const token = /"|-?\d[\d.eE+-]*/g;
  let out = '';
  let copiedTo = 0;
  for (let found = token.exec(json); found !== null; found = token.exec(json)) {
    if (found[0] === '"') {
      token.lastIndex = endOfString(json, token.lastIndex);
      continue;
    }
    out += json.slice(copiedTo, found.index) + replace(found[0]);
    copiedTo = token.lastIndex;
  }
  return out + json.slice(copiedTo);
}

/** The position after a string; `offset` is the one after its opening quote. */
function endOfString(json: string, offset: number): number {
  for (let quote = json.indexOf('"', offset); quote >= 0; quote = json.indexOf('"', quote + 1)) {
    let escapes = quote;
    while (json[escapes - 1] === '\\') escapes -= 1;
    if ((quote - escapes) % 2 === 0) return quote + 1;
  }
  return json.length;
}

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
