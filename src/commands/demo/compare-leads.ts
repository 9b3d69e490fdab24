export interface Comparison {
  readonly pulled: number;
  readonly pushed: number;
  /** One sentence for each difference. */
  readonly differences: readonly string[];
}

/** Compares leads of the list operation with leads of webhooks, both NDJSON: byte for byte except for the status. */
export function compare(pulled: string, pushed: string): Comparison {
  const pulledLines = byId(pulled);
  const pushedLines = byId(pushed);
  const differences: string[] = [];
  for (const [id, line] of pulledLines) {
    const pushedLine = pushedLines.get(id);
    if (pushedLine === undefined) differences.push(`${id} can be pulled and was not pushed`);
    else if (withoutStatus(line) !== pushedLine) differences.push(`${id} differs`);
  }
  for (const id of pushedLines.keys()) {
    if (!pulledLines.has(id)) differences.push(`${id} was pushed and cannot be pulled`);
  }
  const lineCount = (text: string): number => text.split('\n').length - 1;
  if (lineCount(pulled) !== pulledLines.size || lineCount(pushed) !== pushedLines.size)
    differences.push('an id is there twice');
  return { pulled: pulledLines.size, pushed: pushedLines.size, differences };
}

function byId(ndjson: string): Map<string, string> {
  const lines = ndjson.split('\n').filter((line) => line !== '');
  return new Map(lines.map((line) => [(JSON.parse(line) as { id: string }).id, line]));
}

/** The sandbox puts the status last; a webhook carries none. */
const withoutStatus = (line: string): string => line.replace(/,"status":"\w+"\}$/, '}');
