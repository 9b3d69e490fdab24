import { replaceNumbers } from '../../json/exact.ts';
import { escapeJson, sanitize } from '../sanitize.ts';

interface Rendering {
  /** Begins each line that is an error which the filter met, as an object with this one member. */
  readonly errorMember: string;
  /** The documents that were read. */
  readonly input: () => string;
  readonly isTerminal: boolean;
  readonly onError: (text: string) => void;
}

/** What jq printed, a JSON value a line, as it is shown: texts as they are, everything else as compact JSON. */
export function renderValues(out: string, { errorMember, input, isTerminal, onError }: Rendering): string {
  const errorStart = `{"${errorMember}":`;
  // Most filters give whole objects, or numbers.
  if (!isTerminal && !/^"/m.test(out) && !out.includes(errorStart) && !/\dE[+-]?\d/.test(out)) return out;
  const lines: string[] = [];
  for (const line of out.split('\n')) {
    if (line === '') continue;
    if (line.startsWith(errorStart)) {
      onError(errorText(line.slice(errorStart.length, -1)));
    } else if (line.startsWith('"')) {
      const text = JSON.parse(line) as string;
      lines.push(isTerminal ? text.split('\n').map(sanitize).join('\n') : text);
    } else {
      const json = withOwnNumbers(line, input);
      lines.push(isTerminal ? escapeJson(json) : json);
    }
  }
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

/** An error is a text, as a rule. */
function errorText(json: string): string {
  const value = JSON.parse(json) as unknown;
  return typeof value === 'string' ? value : `error (not a text): ${json}`;
}

/**
 * jq keeps all digits of a number that a filter only moves, and writes some with an exponent of its own: `1e400` becomes
 * `1E+400`. Gives such numbers of `line` the form that they have in `input`. What jq computes has no capital `E`.
 */
function withOwnNumbers(line: string, input: () => string): string {
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
