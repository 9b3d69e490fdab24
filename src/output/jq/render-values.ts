import { escapeJson, sanitize } from '../sanitize.ts';
import { withOwnNumbers } from './literal-numbers.ts';

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
