/** How one language writes JSON. */
export interface JsonStyle {
  /** Between two members of an object or list. */
  readonly comma: string;
  /** Between a name and its value. */
  readonly colon: string;
  /** A string as `JSON.stringify` writes it, as this language writes it. Default: the same. */
  readonly string?: (json: string) => string;
  /** A number from the text that was received. Default: the same text. */
  readonly number?: (text: string) => string;
}

const tokens = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[,:]|[^\s",:]/gs;

/**
 * The same JSON as another language writes it, with its members in the same order. `json` must be valid. Token by token,
 * so that numbers which JavaScript does not hold stay exact.
 */
export function rewriteJson(json: string, style: JsonStyle): string {
  const { comma, colon, string = same, number = same } = style;
  return (
    json
      .replace(/^\ufeff/, '')
      .match(tokens)
      ?.map((token) => {
        if (token === ',') return comma;
        if (token === ':') return colon;
        if (token.startsWith('"')) return string(JSON.stringify(JSON.parse(token)));
        return /^[-\d]/.test(token) ? number(token) : token;
      })
      .join('') ?? ''
  );
}

const same = (text: string): string => text;

/** Every character beyond ASCII as `\u` and four hexadecimal digits, in small letters. */
export const withUnicodeEscapes = (json: string): string => json.replace(/[\u0080-\uffff]/g, unicodeEscape);

export const unicodeEscape = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** A number as Python writes it: whole numbers digit by digit, others as `repr` does. */
export function pythonNumber(text: string): string {
  if (!/[.eE]/.test(text)) return text;
  const value = Number(text);
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e16 || size < 1e-4)) {
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  }
  const written = Object.is(value, -0) ? '-0' : String(value);
  return written.includes('.') ? written : `${written}.0`;
}

/** A number as PHP writes it: integers of 64 bits digit by digit, others with as many digits as they need. */
export function phpNumber(text: string): string {
  if (!/[.eE]/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text)) return text;
  const value = Number(text);
  const size = Math.abs(value);
  if (size === 0 || (size >= 1e-4 && size < 1e17)) return String(value);
  return value.toExponential().replace(/^(-?\d)e/, '$1.0e');
}
